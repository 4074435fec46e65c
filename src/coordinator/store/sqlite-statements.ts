/** Caches the prepared statements of an SQLite file for Kysely. */
import type { SqliteDatabase, SqliteStatement } from 'kysely'
import { createBoundedCache } from '../../runtime/bounded-cache.js'
import { translated, translateError } from './sqlite-errors.js'
import type { SqliteFile, SqliteStatement as Statement } from './sqlite-library.js'
import { prepareRow } from './sqlite-row.js'

/** Number of cached statements, and their maximum length: longer ones are lists of rows that differ each time. */
const statementsKept = 256
const maxStatementLength = 4096

export interface CachedStatement extends SqliteStatement {
  /** True if it changes nothing: other code may run between its rows. */
  readonly readonly: boolean
}

export interface StatementCache extends SqliteDatabase {
  prepare(text: string): CachedStatement
}

/** The database as Kysely sees it: statements are cached, errors translated to the store's own. */
export function statementCache(file: SqliteFile, noteWrite: () => void): StatementCache {
  const kept = createBoundedCache<string, CachedStatement>(statementsKept)
  return {
    close: () => {
      kept.clear()
      file.close()
    },
    prepare: (text) => {
      const found = kept.get(text)
      if (found) return found
      const statement = translated(() => wrapStatement(file.prepare(text), noteWrite))
      if (text.length <= maxStatementLength) kept.set(text, statement)
      return statement
    },
  }
}

function wrapStatement(statement: Statement, noteWrite: () => void): CachedStatement {
  const noteUse = statement.readonly ? () => undefined : noteWrite
  const toRow = statement.reader ? prepareRow(statement.raw(true)) : null
  return {
    reader: statement.reader,
    readonly: statement.readonly,
    all: (parameters) =>
      translated(() => {
        noteUse()
        const rows = statement.all([...parameters])
        return toRow ? rows.map(toRow) : rows
      }),
    run: (parameters) =>
      translated(() => {
        noteUse()
        return statement.run([...parameters])
      }),
    *iterate(parameters) {
      noteUse()
      try {
        for (const row of statement.iterate([...parameters])) yield toRow ? toRow(row) : row
      } catch (error) {
        throw translateError(error)
      }
    },
  }
}
