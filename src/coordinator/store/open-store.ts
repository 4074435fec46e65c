/** Opens the store at a URL and brings its tables up to date. */
import type { Logger } from 'pino'
import { FleetError } from '../../errors.js'
import type { Database } from './database.js'
import { runMigrations } from './migrations/run-migrations.js'
import type { Store } from './store.js'
import { createWriteCheck } from './write-check.js'

const sqlitePrefix = 'sqlite:'
const postgresPattern = /^postgres(ql)?:\/\//

/**
 * `sqlite:<path>`, `sqlite::memory:` (gone at close) or `postgres://…` (docs/behaviour.md, Settings). Throws FleetError
 * 'invalid' for any other URL and for a store written by a newer version, 'unavailable' when it cannot be opened.
 */
export async function openStore(url: string, log: Logger): Promise<Store> {
  const database = await openDatabase(url, log)
  try {
    await runMigrations(database)
  } catch (error) {
    await database.close()
    throw error
  }
  return { ...database, checkWrites: createWriteCheck(database) }
}

/** Call before `openStore` in a process that changes its user in between. */
export async function loadDatabase(url: string): Promise<void> {
  if (findSqliteFile(url) !== null) (await import('./sqlite.js')).loadSqlite()
  else if (postgresPattern.test(url)) await import('./postgres.js')
}

/** Null: not the URL of an SQLite store in a file. */
export function findSqliteFile(url: string): string | null {
  const path = url.startsWith(sqlitePrefix) ? url.slice(sqlitePrefix.length) : ''
  return path === '' || path === ':memory:' ? null : path
}

/** Opens it without updating its tables. Each database's library is loaded only when used. */
export async function openDatabase(url: string, log: Logger): Promise<Database> {
  if (url.startsWith(sqlitePrefix) && url.length > sqlitePrefix.length) {
    const { openSqlite } = await import('./sqlite.js')
    return openSqlite(url.slice(sqlitePrefix.length))
  }
  if (postgresPattern.test(url) && URL.canParse(url)) {
    const { openPostgres } = await import('./postgres.js')
    return openPostgres(url, log)
  }
  // Without the URL itself, which may contain a password.
  throw new FleetError(
    'invalid',
    'store',
    'the store URL is none of sqlite:<path> and postgres://user:password@host:port/database',
  )
}
