/** Webhooks, and what is to be, or was, delivered to them. */
import type { DeliveryState, WebhookFormat } from '../../../resources/webhook.js'
import { flag, id, index, integer, nameIndexes, owner, table, text, times } from './table.js'

export const webhookTables = {
  webhooks: table(
    {
      id: id(),
      organizationId: owner('cascade'),
      name: text(),
      /** Scheme, host and port. */
      url: text(),
      /** All of it; null: a reset of the secret key forgot it. */
      sealedUrl: text().orNull(),
      /** Null: a reset of the secret key forgot it. */
      sealedSecret: text().orNull(),
      /** JSON array. */
      types: text(),
      filter: text(),
      format: text<WebhookFormat>(),
      enabled: flag(),
      /** The last event that was judged for it. */
      position: integer(),
      /** Of deliveries that did not fit any more. */
      dropped: integer(),
      /** Failures in a row; 0: the last delivery succeeded. */
      failures: integer(),
      /** Of the first of these; null: it does not fail. */
      failingSince: integer().orNull(),
      lastError: text().orNull(),
      /** When it is tried again. */
      retryAt: integer(),
      ...times,
    },
    { indexes: nameIndexes },
  ),

  webhookDeliveries: table(
    {
      id: id(),
      webhookId: integer().references('webhooks', 'cascade'),
      state: text<DeliveryState>(),
      type: text(),
      at: integer(),
      /** JSON of the event's object; null: it is not needed any more. */
      data: text().orNull(),
      attempts: integer(),
      /** HTTP, of the last answer. */
      status: integer().orNull(),
      answer: text().orNull(),
      error: text().orNull(),
      endedAt: integer().orNull(),
    },
    { indexes: { state: index('webhookId', 'state', 'id') } },
  ),
}
