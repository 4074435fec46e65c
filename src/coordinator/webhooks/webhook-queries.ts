/** Webhook rows. URL and secret are read sealed, and opened only to send. */
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
  /** Null: forgotten when the secret key was reset. */
  readonly sealedUrl: string | null
  readonly sealedSecret: string | null
  /** The last event that was matched against it. */
  readonly position: number
  readonly failures: number
  /** Null: not failing. */
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
    organizationId,
    sealedUrl,
    sealedSecret,
    position,
    failures,
    failingSince,
    lastError,
    retryAt,
  }
}

export const webhookReading = readingOf({
  noun: 'webhook',
  select: selectWebhooks,
  columnsFor: () => webhookColumns,
  toRecords: (rows) => rows.map(fromRow),
})

const everything = { kind: 'all' } as const

/** Returns the webhooks of all organizations that receive events. */
export async function readEnabledWebhooks(queries: Queries): Promise<WebhookRecord[]> {
  const rows = await selectWebhooks(queries, everything)
    .where('webhooks.enabled', '=', 1)
    .where('webhooks.sealedUrl', 'is not', null)
    .orderBy('webhooks.id')
    .execute()
  return rows.map(fromRow)
}

/** Undefined if it is gone or disabled. */
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
