/** Updates a store of an earlier release. Released migrations are never changed, only followed by new ones. */
import type { DialectSql } from '../database.js'

export interface Migration {
  /** Sorts after all earlier ones: a four-digit number and a word. */
  readonly name: string
  readonly statements: (dialect: DialectSql) => readonly string[]
}
