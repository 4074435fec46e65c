/** Opens the rows of the archive that a URL names. Each database's library is loaded only where it is used. */
import type { RowStore } from './row-store.js'

/** `sqlite:<path>` or `postgres://…`, as of the store. Rejects with FleetError 'unavailable' when it cannot be opened. */
export async function openRows(url: string): Promise<RowStore> {
  const sqlitePrefix = 'sqlite:'
  if (url.startsWith(sqlitePrefix)) {
    const { openSqliteRows } = await import('./sqlite-rows.js')
    return openSqliteRows(url.slice(sqlitePrefix.length))
  }
  const { openPostgresRows } = await import('./postgres-rows.js')
  return openPostgresRows(url)
}
