/** The interface that each of the two databases offers to `open-store.ts`: the store and its SQL dialect. */
import type { Transaction } from 'kysely'
import type { Tables } from './schema.js'
import type { Store } from './store.js'

/** `checkWrites` is the same on both and added by `write-check.ts`. */
export interface Database extends Omit<Store, 'checkWrites'> {
  readonly dialect: DialectSql
  /** Rejects when the disk is full, as far as this process can see that. */
  checkRoom(): Promise<void>
  /** A transaction of unlimited duration that only one process runs at a time. */
  migrate<T>(work: (queries: Transaction<Tables>) => Promise<T>): Promise<T>
}

/** The differences in the tables' definitions, as SQL. */
export interface DialectSql {
  /** Column type and key of an id. Ids are never reused. */
  readonly id: string
  readonly integer: string
  /** Compared and sorted by UTF-8 bytes. */
  readonly text: string
  /** Appended after a table's closing parenthesis. */
  readonly tableOptions: string
  /** Creates the functions that queries use: `iso_time(ms)`. Executed at every start. */
  readonly definitions: readonly string[]
  /** Creates a trigger: for each row, after the write. */
  readonly trigger: (trigger: Trigger) => readonly string[]
}

export interface Trigger {
  readonly name: string
  readonly table: string
  /** `insert`, `delete`, or `update of "name", state`. */
  readonly after: string
  /** Condition on `new` and `old`; omitted: always. */
  readonly when?: string
  /** One statement; it may refer to `new` and `old`. */
  readonly work: string
}
