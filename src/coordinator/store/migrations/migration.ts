/** What makes a store of an earlier release as new ones are. What was released is never changed, only followed by another. */
import type { DialectSql } from '../database.js'

export interface Migration {
  /** Sorts behind all earlier ones: a number of four digits and a word. */
  readonly name: string
  readonly statements: (dialect: DialectSql) => readonly string[]
}
