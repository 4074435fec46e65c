/** Opens the archive's rows at a URL. A database library is loaded only if it is used. */
import type { RowStore } from './row-store.js'

/** `sqlite:<path>` or `postgres://…`, as for the store. Rejects with FleetError 'unavailable' if it cannot be opened. */
export async function openRows(url: string): Promise<RowStore> {
  const sqlitePrefix = 'sqlite:'
  if (url.startsWith(sqlitePrefix)) {
    const { openSqliteRows } = await import('./sqlite-rows.js')
    return openSqliteRows(url.slice(sqlitePrefix.length))
  }
  const { openPostgresRows } = await import('./postgres-rows.js')
  return openPostgresRows(url)
}
