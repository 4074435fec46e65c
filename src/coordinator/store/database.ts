/** What each of the two databases offers to `open-store.ts`: the store, and what its tables are written in. */
import type { Transaction } from 'kysely'
import type { Tables } from './schema.js'
import type { Store } from './store.js'

/** What is the same on both is added: `checkWrites` by `write-check.ts`. */
export interface Database extends Omit<Store, 'checkWrites'> {
  readonly dialect: DialectSql
  /** Rejects when the disk is full, as far as this process can see that. */
  checkRoom(): Promise<void>
  /** A transaction that no other process runs at the same time, however long it takes. */
  migrate<T>(work: (queries: Transaction<Tables>) => Promise<T>): Promise<T>
}

/** The differences in the tables' definitions, as SQL. */
export interface DialectSql {
  /** Column type and key of an id. Ids are never used again. */
  readonly id: string
  readonly integer: string
  /** Compared and sorted by the bytes of UTF-8. */
  readonly text: string
  /** Written behind a table's closing parenthesis. */
  readonly tableOptions: string
  /** Makes the functions that queries use: `iso_time(ms)`. Repeated at each start. */
  readonly definitions: readonly string[]
  /** Makes a trigger: for each row, after it was written. */
  readonly trigger: (trigger: Trigger) => readonly string[]
}

export interface Trigger {
  readonly name: string
  readonly table: string
  /** `insert`, `delete`, or `update of "name", state`. */
  readonly after: string
  /** Of `new` and `old`; left out: always. */
  readonly when?: string
  /** One statement; it may name `new` and `old`. */
  readonly work: string
}
