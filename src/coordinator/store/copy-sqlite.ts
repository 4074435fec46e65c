/** A copy of an SQLite store as it was at one moment, while coordinators write to it. */
import { BetterSqlite3 } from './sqlite-library.js'

/** All pages in one step: between two steps another process could write, and SQLite would begin anew each time. */
const allPages = 0x7fffffff
const busyTimeoutMs = 10_000

/** `from` must be there, `to` must not. Rejects with what SQLite says, also of a store that is damaged. */
export async function copySqlite(from: string, to: string): Promise<void> {
  const store = new BetterSqlite3(from, { fileMustExist: true, timeout: busyTimeoutMs })
  try {
    await store.backup(to, { progress: () => allPages })
  } finally {
    store.close()
  }
  checkPages(to)
}

/** Rejects for a file that is damaged, or no database. */
export function checkPages(path: string): void {
  const copy = new BetterSqlite3(path, { fileMustExist: true })
  try {
    const found = copy.pragma('quick_check(1)', { simple: true })
    if (found !== 'ok') throw new Error(`the store is damaged: ${String(found)}`)
  } finally {
    copy.close()
  }
}
