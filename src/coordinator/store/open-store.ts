/** Opens the store that a URL names and brings its tables up to date. */
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
 * 'invalid' for another URL and for a store that a newer version has written, 'unavailable' when it cannot be opened.
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

/** Ahead of `openStore`, for a process that becomes another user in between. */
export async function loadDatabase(url: string): Promise<void> {
  if (findSqliteFile(url) !== null) (await import('./sqlite.js')).loadSqlite()
  else if (postgresPattern.test(url)) await import('./postgres.js')
}

/** Null: no URL of a SQLite store that is a file. */
export function findSqliteFile(url: string): string | null {
  const path = url.startsWith(sqlitePrefix) ? url.slice(sqlitePrefix.length) : ''
  return path === '' || path === ':memory:' ? null : path
}

/** As it is: its tables are not brought up to date. Each database's library is loaded only where it is used. */
export async function openDatabase(url: string, log: Logger): Promise<Database> {
  if (url.startsWith(sqlitePrefix) && url.length > sqlitePrefix.length) {
    const { openSqlite } = await import('./sqlite.js')
    return openSqlite(url.slice(sqlitePrefix.length))
  }
  if (postgresPattern.test(url) && URL.canParse(url)) {
    const { openPostgres } = await import('./postgres.js')
    return openPostgres(url, log)
  }
  // Without the URL itself, which may hold a password.
  throw new FleetError(
    'invalid',
    'store',
    'the store URL is none of sqlite:<path> and postgres://user:password@host:port/database',
  )
}
