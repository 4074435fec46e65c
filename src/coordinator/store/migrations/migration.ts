/** One step of the tables. What has run somewhere is never changed again, only followed by another. */
import type { DialectSql } from '../database.js'

export interface Migration {
  /** Sorts behind all earlier ones: a number of four digits and a word. */
  readonly name: string
  readonly statements: (dialect: DialectSql) => readonly string[]
}

/** How the tables of a migration are written: `columns` also holds keys and constraints. */
export function makeStatementWriters({ tableOptions }: DialectSql) {
  return {
    table: (name: string, ...columns: readonly string[]): string =>
      `create table "${name}" (${columns.join(', ')}) ${tableOptions}`,
    index: (name: string, on: string): string => `create index "${name}" on ${on}`,
  }
}
