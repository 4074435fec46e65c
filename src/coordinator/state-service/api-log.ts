/** The api log's writer: calls are collected and written together, off the path of the calls (choices: 2, apilogs). */
import type { Logger } from 'pino'
import { deleteApiLogsBefore, insertApiLogs, type NewApiLog } from '../../store/api-logs.js'
import { startHourly, type HourlyWork } from './hourly.js'
import type { StateService } from './service.js'

export interface ApiLog {
  /** Never throws and never waits. */
  record(entry: NewApiLog): void
  /** Writes what is left. Nothing is recorded afterwards. */
  close(): Promise<void>
}

export const apiLogSeverity = { info: 1, warning: 2, error: 3 } as const

/** Chosen by us: how long an entry may wait to be written. */
const flushEveryMs = 100
const retryAfterMs = 1000
const rowsAtOnce = 200
/** Chosen by us: what is kept while the store is away; the oldest go first. */
const waitingMost = 10_000
const dayMs = 24 * 3600 * 1000
const deletedAtOnce = 1000

export function createApiLog({ store }: StateService, log: Logger): ApiLog {
  const waiting: NewApiLog[] = []
  let lost = 0
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  /** What could not be written is tried again. */
  const write = async (): Promise<void> => {
    while (waiting.length > 0) {
      const rows = waiting.splice(0, rowsAtOnce)
      try {
        await insertApiLogs(store.queries, rows)
      } catch (error) {
        waiting.unshift(...rows)
        log.warn({ err: error, waiting: waiting.length }, 'the api log could not be written')
        if (!closed) timer ??= setTimeout(flush, retryAfterMs)
        return
      }
    }
    if (lost > 0) log.error({ lost }, 'api log entries were lost while the store was away')
    lost = 0
  }
  const flush = (): void => {
    timer = undefined
    writing = writing.then(write)
  }
  return {
    record: (entry) => {
      if (closed) return
      if (waiting.length >= waitingMost) {
        waiting.shift()
        lost++
      }
      waiting.push(entry)
      timer ??= setTimeout(flush, flushEveryMs)
    },
    close: async () => {
      closed = true
      clearTimeout(timer)
      flush()
      await writing
    },
  }
}

/** Deletes what is older than the configured days, hourly, in small steps. */
export function startApiLogCleanup(service: StateService, log: Logger): HourlyWork {
  return startHourly('the cleanup of the api log', log, () => removeOldApiLogs(service))
}

export async function removeOldApiLogs({ store, now, settings }: StateService): Promise<void> {
  const before = now() - settings.apiLogDays * dayMs
  let deleted = deletedAtOnce
  while (deleted === deletedAtOnce)
    deleted = await deleteApiLogsBefore(store.queries, before, deletedAtOnce)
}
