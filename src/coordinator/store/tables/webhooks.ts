/** Webhooks, and their pending and past deliveries. */
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
      /** The full URL; null: lost in a reset of the secret key. */
      sealedUrl: text().orNull(),
      /** Null: lost in a reset of the secret key. */
      sealedSecret: text().orNull(),
      /** JSON array. */
      types: text(),
      filter: text(),
      format: text<WebhookFormat>(),
      enabled: flag(),
      /** The last event that was matched against its types and filter. */
      position: integer(),
      /** Number of dropped deliveries. */
      dropped: integer(),
      /** Consecutive failures; 0: the last delivery succeeded. */
      failures: integer(),
      /** Time of the first of these failures; null: it is not failing. */
      failingSince: integer().orNull(),
      lastError: text().orNull(),
      /** Time of the next retry. */
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
      /** JSON of the event's object; null: no longer needed. */
      data: text().orNull(),
      attempts: integer(),
      /** HTTP status of the last response. */
      status: integer().orNull(),
      answer: text().orNull(),
      error: text().orNull(),
      endedAt: integer().orNull(),
    },
    { indexes: { state: index('webhookId', 'state', 'id') } },
  ),
}
