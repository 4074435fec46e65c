/**
 * Waits for another process that writes the store (`admin set-password` beside the daemon, a backup) without blocking this one:
 * SQLite's own waiting blocks the thread, and with it all agent links and API requests.
 */
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { FleetError } from '../../errors.js'
import { pauseFor } from '../../runtime/pause.js'

/** After this the caller gets an error. */
const retryLimitMs = 5000
/** Constant, because SQLite's own waiting polls less and less often and may starve. */
const pauseMs = 5

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

/** Retries statements outside transactions; a transaction that has begun already holds the store. */
export class RetryingConnection implements DatabaseConnection {
  readonly #connection: DatabaseConnection
  readonly #isInTransaction: () => boolean

  constructor(connection: DatabaseConnection, isInTransaction: () => boolean) {
    this.#connection = connection
    this.#isInTransaction = isInTransaction
  }

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#isInTransaction()) return this.#connection.executeQuery(query)
    return retryWhileBusy(() => this.#connection.executeQuery<Row>(query))
  }

  streamQuery<Row>(query: CompiledQuery, chunkSize: number) {
    return this.#connection.streamQuery<Row>(query, chunkSize)
  }
}
