/** The api log's writer: calls are collected and written together, off the path of the calls (docs/behaviour.md, API log). */
import type { Logger } from 'pino'
import { changesSubject } from '../bus/subjects.js'
import { deleteApiLogsBefore, insertApiLogs, type NewApiLog } from './api-log-queries.js'
import { readOrganizationIds } from '../identity/organization-queries.js'
import type { Queries } from '../store/store.js'
import type { StateService } from '../service.js'
import { createBatcher } from '../../runtime/batcher.js'

export interface ApiLog {
  /** Never throws and never waits. */
  record(call: RecordedCall): void
  /** Writes what is left. Nothing is recorded afterwards. */
  close(): Promise<void>
}

export interface RecordedCall {
  /** Its id, or what a caller named it, which may be nothing that exists. Null: none, the system administrator's. */
  readonly organization: number | string | null
  readonly traceId: string
  /** Empty: no name was given. */
  readonly account: string
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly status: number
  /** What the call was about: a resource's singular, and its id. */
  readonly keyType: string
  readonly keyId: number | null
  readonly msg: string
  /** Whatever its status. */
  readonly isWarning: boolean
  /** Nothing was to change. */
  readonly asksOnly: boolean
}

/** How long an entry may wait before it is written. */
const flushEveryMs = 100
const retryMs = 1000
const rowsAtOnce = 200
/** Entries kept in memory while the store is unavailable; the oldest are dropped first. */
const maxWaiting = 10_000
/** Unauthenticated calls (401) recorded per minute; further ones appear in the log only. */
const namelessInMinute = 600
/** Characters per text. */
const maxTextLength = 2000
const dayMs = 24 * 3600 * 1000
const deletedAtOnce = 1000

export function createApiLog({ store, bus, now }: StateService, log: Logger): ApiLog {
  const mayRecord = createNamelessLimit(now)
  const batcher = createBatcher<WaitingRow>({
    log,
    trouble: 'the api log could not be written',
    waitMs: flushEveryMs,
    retryMs,
    atOnce: rowsAtOnce,
    maxWaiting,
    write: async (rows) => {
      await insertApiLogs(store.queries, await resolveOrganizations(store.queries, rows))
      bus.publish(changesSubject, {})
    },
  })
  return {
    record: (call) => {
      if (call.status === 401 && !mayRecord()) return
      batcher.add(toRow(call, now()))
    },
    close: () => batcher.close(),
  }
}

function createNamelessLimit(now: () => number): () => boolean {
  let minute = 0
  let count = 0
  return () => {
    const current = Math.floor(now() / 60_000)
    count = current === minute ? count + 1 : 1
    minute = current
    return count <= namelessInMinute
  }
}

type WaitingRow = Omit<NewApiLog, 'organizationId'> & Pick<RecordedCall, 'organization'>

/** Names are looked up here, together, so that a failed login costs no query of its own. */
async function resolveOrganizations(
  queries: Queries,
  rows: readonly WaitingRow[],
): Promise<NewApiLog[]> {
  const names = rows.flatMap(({ organization }) =>
    typeof organization === 'string' ? [organization] : [],
  )
  const ids = await readOrganizationIds(queries, [...new Set(names)])
  return rows.map(({ organization, ...row }) => ({
    ...row,
    organizationId:
      typeof organization === 'string' ? (ids.get(organization) ?? null) : organization,
  }))
}

function toRow({ isWarning, ...call }: RecordedCall, createdAt: number): WaitingRow {
  const { organization } = call
  return {
    ...call,
    organization: typeof organization === 'string' ? toStorable(organization) : organization,
    createdAt,
    asksOnly: call.asksOnly ? 1 : 0,
    severity: Math.max(severityOf(call.status), isWarning ? 2 : 1),
    msg: toStorable(call.msg),
    account: toStorable(call.account),
    path: toStorable(call.path),
  }
}

/** 1 info, 2 warning, 3 error (docs/behaviour.md, API log). */
function severityOf(status: number): number {
  if (status >= 500) return 3
  return status >= 400 ? 2 : 1
}

/** Callers write parts of these; no database keeps U+0000 or half a surrogate pair. */
function toStorable(text: string): string {
  return text
    .slice(0, maxTextLength)
    .replaceAll('\0', '')
    .replaceAll(/\p{Surrogate}/gu, '\ufffd')
}

/** Deletes what is older than the configured days, in small steps. */
export async function removeOldApiLogs({ store, now, settings }: StateService): Promise<void> {
  const before = now() - settings.apiLogDays * dayMs
  let deleted = deletedAtOnce
  while (deleted === deletedAtOnce)
    deleted = await deleteApiLogsBefore(store.queries, before, deletedAtOnce)
}
