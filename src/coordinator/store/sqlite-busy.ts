/**
 * Keeps the store from blocking this process, and with it all agent links and API requests: it waits for another process that writes
 * (`admin set-password` beside the daemon, a backup) outside of SQLite, whose own waiting blocks the thread, and yields to the event
 * loop between the statements of a long transaction and the rows of a long list.
 */
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { FleetError } from '../../errors.js'
import { pauseFor } from '../../runtime/pause.js'
import { Semaphore } from '../../runtime/semaphore.js'
import type { StatementCache } from './sqlite-statements.js'

/** After this the caller gets an error. */
const retryLimitMs = 5000
/** Constant, because SQLite's own waiting polls less and less often and may starve. */
const pauseMs = 5
/** SQLite answers within the call: without this, the rows of a list and the statements of a transaction would follow each other. */
const yieldAfterMs = 5
/** How many rows are read between two readings of the clock: they take some hundred microseconds. */
const rowsPerCheck = 64

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
  readonly #statements: StatementCache
  readonly #isInTransaction: () => boolean
  /** A transaction may ask for several at once, and SQLite neither writes nor rolls back while a list is being read. */
  readonly #statementsInTurn = new Semaphore()
  /** Start of the first statement since the event loop last ran; null: none. */
  #busySinceMs: number | null = null

  constructor(
    connection: DatabaseConnection,
    statements: StatementCache,
    isInTransaction: () => boolean,
  ) {
    this.#connection = connection
    this.#statements = statements
    this.#isInTransaction = isInTransaction
  }

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.#statementsInTurn.run(() => this.#executeNext<Row>(query))
  }

  async #executeNext<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    await this.#yieldIfLong()
    if (this.#isInTransaction()) return this.#execute(query)
    return retryWhileBusy(() => this.#execute<Row>(query))
  }

  streamQuery<Row>(query: CompiledQuery, chunkSize: number) {
    return this.#connection.streamQuery<Row>(query, chunkSize)
  }

  async #execute<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const statement = this.#statements.prepare(query.sql)
    if (!statement.reader || !statement.readonly) return this.#connection.executeQuery(query)
    const rows: Row[] = []
    for (const row of statement.iterate(query.parameters)) {
      rows.push(row as Row) // as Kysely's own driver has it
      if (rows.length % rowsPerCheck === 0 && this.#isLong()) await this.#yieldIfLong()
    }
    return { rows }
  }

  #isLong(): boolean {
    return this.#busySinceMs !== null && performance.now() - this.#busySinceMs >= yieldAfterMs
  }

  async #yieldIfLong(): Promise<void> {
    if (this.#isLong()) await yieldToOthers()
    if (this.#busySinceMs !== null) return
    this.#busySinceMs = performance.now()
    setImmediate(() => {
      this.#busySinceMs = null
    })
  }
}
