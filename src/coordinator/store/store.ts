/** The store's port: one set of Kysely queries over SQLite or PostgreSQL. */
import type { Kysely, Transaction } from 'kysely'
import type { Recall } from './read-memory.js'
import type { Tables } from './schema.js'

/** Parameter of every query function: the store itself, or one of its transactions. */
export type Queries = Kysely<Tables>

export interface Store {
  readonly queries: Queries
  /**
   * Reads, unless the same was read since the last write: for frequent queries. On PostgreSQL it always reads, because
   * other processes write there. Not for use within a transaction. The result is shared and must not be changed.
   */
  readonly recall: Recall
  /**
   * All or nothing. Inside, only the given queries may be used: the store's own would wait forever, so they throw. On
   * PostgreSQL the work is repeated after a deadlock, so its only effects must be rows. Rows that it read may change
   * before it writes: use `decide` if a write depends on them.
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
  /** Whether another process has the store open, as a running coordinator does; false as soon as that process dies. */
  isUsedElsewhere(): Promise<boolean>
  /** Rejects when the database does not respond. */
  check(): Promise<void>
  /** Rejects when the store cannot be written; tested by writing a small row, at most every few seconds. */
  checkWrites(): Promise<void>
  close(): Promise<void>
}

export interface TransactionOptions {
  /**
   * False: resolves before the data is on disk, for data that is sent again anyway, like heartbeats. A power failure may
   * undo the last transactions, in order and each completely; the end of this process undoes none. Default true.
   */
  readonly durable?: boolean
  /** It changes nothing that is read of other agents: what is recalled of them stays. Omitted: it may change anything. */
  readonly agents?: readonly number[]
}
