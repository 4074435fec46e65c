/** The store's port: one set of Kysely queries over SQLite or PostgreSQL. */
import type { Kysely, Transaction } from 'kysely'
import type { Recall } from './read-memory.js'
import type { Tables } from './schema.js'

/** What a query function is given: the store itself, or a transaction of it. */
export type Queries = Kysely<Tables>

export interface Store {
  readonly queries: Queries
  /**
   * Reads, unless the same was read since the last write: for what is asked for often. On PostgreSQL it always reads, for
   * other processes write there. Not within a transaction. The answer is shared: it must not be changed.
   */
  readonly recall: Recall
  /**
   * All or nothing. Inside, only the given queries may be used: the store's own would wait for ever and throw. On
   * PostgreSQL the work runs again after a deadlock, so it leaves nothing behind but rows; what it reads may change
   * until it writes: whoever decides by what it read uses `decide`.
   */
  transaction<T>(
    work: (queries: Transaction<Tables>) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>
  /**
   * A transaction under the one decision lock: "load, decide, save" of placements and desired states.
   * SQLite: an immediate transaction; PostgreSQL: an advisory lock. Await nothing but queries inside.
   */
  decide<T>(
    work: (queries: Transaction<Tables>) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>
  /** Whether another process has the store open, as a coordinator has while it runs; known at once when that one dies. */
  isUsedElsewhere(): Promise<boolean>
  /** Rejects when the database does not answer. */
  check(): Promise<void>
  /** Rejects when it cannot be written: a small row is, every few seconds at most. */
  checkWrites(): Promise<void>
  close(): Promise<void>
}

export interface TransactionOptions {
  /**
   * False: answered before it is on disk, for what is said again anyway, as heartbeats are. A power cut may take back the
   * last of them, in order and each whole; the end of this process takes nothing. Default true.
   */
  readonly durable: boolean
}
