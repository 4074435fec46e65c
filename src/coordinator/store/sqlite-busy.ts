/**
 * Waits for another process that writes the store (`admin set-password` beside the daemon, a backup) without holding up this one:
 * SQLite's own waiting stops the thread, and with it all links and calls.
 */
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { FleetError } from '../../errors.js'
import { pauseFor } from '../../runtime/pause.js'

/** After this the caller gets an error. */
const retryLimitMs = 5000
/** SQLite's own waiting polls less and less often, and may starve. */
const pauseMs = 5

export class StoreBusy extends FleetError {
  constructor(cause: unknown) {
    const detail = { retryAfterSeconds: 1, cause }
    super('unavailable', 'store', 'another process holds the store', detail)
  }
}

/** Tries again until the store is free. Throws StoreBusy when it took too long. */
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

/** Statements that are not part of a transaction; one that has begun holds the store already. */
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
