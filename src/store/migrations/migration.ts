/** One step of the tables. What has run somewhere is never changed again, only followed by another. */
import type { DialectSql } from '../database.js'

export interface Migration {
  /** Sorts behind all earlier ones: a number of four digits and a word. */
  readonly name: string
  readonly statements: (dialect: DialectSql) => readonly string[]
}
