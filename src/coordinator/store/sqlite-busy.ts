/**
 * Keeps the store from blocking this process, and with it all agent links and API requests: it waits for another process that writes
 * (`admin set-password` beside the daemon, a backup) outside of SQLite, whose own waiting blocks the thread, and yields to the event
 * loop between the statements of a long transaction.
 */
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { FleetError } from '../../errors.js'
import { pauseFor } from '../../runtime/pause.js'

/** After this the caller gets an error. */
const retryLimitMs = 5000
/** Constant, because SQLite's own waiting polls less and less often and may starve. */
const pauseMs = 5
/** SQLite answers within the call, so the statements of a transaction follow each other and the event loop serves nothing else. */
const yieldAfterMs = 5

export class StoreBusy extends FleetError {
  constructor(cause: unknown) {
    const detail = { retryAfterSeconds: 1, cause }
    super('unavailable', 'store', 'another process holds the store', detail)
  }
}

/** Retries until the store is free. Throws StoreBusy after `retryLimitMs`. */
export async function retryWhileBusy<T>(attempt: () => T | Promise<T>): Promise<T> {
  const giveUpAtMs = performance.now() + retryLimitMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof StoreBusy) || performance.now() >= giveUpAtMs) throw error
    }
    await pauseFor(pauseMs)
  }
}

/**
 * Retries statements outside transactions; a transaction that has begun already holds the store. Other code may run before any
 * statement, as on PostgreSQL.
 */
export class YieldingConnection implements DatabaseConnection {
  readonly #connection: DatabaseConnection
  readonly #isInTransaction: () => boolean
  /** Start of the first statement since the event loop last ran; null: none. */
  #busySinceMs: number | null = null

  constructor(connection: DatabaseConnection, isInTransaction: () => boolean) {
    this.#connection = connection
    this.#isInTransaction = isInTransaction
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    await this.#yieldIfLong()
    if (this.#isInTransaction()) return this.#connection.executeQuery(query)
    return retryWhileBusy(() => this.#connection.executeQuery<Row>(query))
  }

  streamQuery<Row>(query: CompiledQuery, chunkSize: number) {
    return this.#connection.streamQuery<Row>(query, chunkSize)
  }

  async #yieldIfLong(): Promise<void> {
    if (this.#busySinceMs !== null && performance.now() - this.#busySinceMs >= yieldAfterMs)
      await yieldToOthers()
    if (this.#busySinceMs !== null) return
    this.#busySinceMs = performance.now()
    setImmediate(() => {
      this.#busySinceMs = null
    })
  }
}
