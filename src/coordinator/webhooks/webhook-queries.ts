/** Webhooks as rows. Address and secret are read sealed, and opened only to send. */
import { sql } from 'kysely'
import { webhook } from '../../resources/webhook.js'
import { readingOf } from '../api/noun-reading.js'
import type { ListColumns } from '../store/list-query.js'
import { selectOwned } from '../store/owned-rows.js'
import { listColumns, rowReader, type StoredRecord } from '../store/resource-rows.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export type WebhookRecord = StoredRecord<typeof webhook.fields> & {
  readonly organizationId: number | null
  /** Null: a reset of the secret key forgot it. */
  readonly sealedUrl: string | null
  readonly sealedSecret: string | null
  /** The last event that was judged for it. */
  readonly position: number
  readonly failures: number
  /** Null: it does not fail. */
  readonly failingSince: number | null
  readonly lastError: string | null
  readonly retryAt: number
}

const webhookColumns = {
  ...listColumns(webhook.fields, 'webhooks'),
  failing: {
    column: sql<number>`(case when "webhooks"."failingSince" is null then 0 else 1 end)`,
    type: 'flag',
  },
} as const satisfies ListColumns

const readStored = rowReader(webhook.fields)

function selectWebhooks(queries: Queries, scope: Scope) {
  return selectOwned(queries, 'webhooks', within(scope, 'webhooks'))
}

type WebhookRow = Awaited<ReturnType<ReturnType<typeof selectWebhooks>['executeTakeFirstOrThrow']>>

function fromRow(row: WebhookRow): WebhookRecord {
  const { organizationId, sealedUrl, sealedSecret, position } = row
  const { failures, failingSince, lastError, retryAt } = row
  return {
    ...readStored(row),
    ...{ organizationId, sealedUrl, sealedSecret, position },
    ...{ failures, failingSince, lastError, retryAt },
  }
}

export const webhookReading = readingOf({
  noun: 'webhook',
  select: selectWebhooks,
  columnsFor: () => webhookColumns,
  toRecords: (rows) => rows.map(fromRow),
})

const everything = { kind: 'all' } as const

/** Of all organizations: those that events are sent to. */
export async function readEnabledWebhooks(queries: Queries): Promise<WebhookRecord[]> {
  const rows = await selectWebhooks(queries, everything)
    .where('webhooks.enabled', '=', 1)
    .where('webhooks.sealedUrl', 'is not', null)
    .orderBy('webhooks.id')
    .execute()
  return rows.map(fromRow)
}

/** Undefined: it is gone, or nothing is to be sent to it. */
export async function findEnabledWebhook(
  queries: Queries,
  id: number,
): Promise<WebhookRecord | undefined> {
  const row = await selectWebhooks(queries, everything)
    .where('webhooks.id', '=', id)
    .where('webhooks.enabled', '=', 1)
    .executeTakeFirst()
  return row && fromRow(row)
}
