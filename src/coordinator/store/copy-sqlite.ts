/** Makes a consistent copy of an SQLite store while coordinators write to it. */
import { BetterSqlite3 } from './sqlite-library.js'

/** All pages in one step: between steps another process could write, and SQLite would restart each time. */
const allPages = 0x7fffffff
const busyTimeoutMs = 10_000

/** `from` must exist, `to` must not. Rejects with SQLite's error, also for a damaged store. */
export async function copySqlite(from: string, to: string): Promise<void> {
  const store = new BetterSqlite3(from, { fileMustExist: true, timeout: busyTimeoutMs })
  try {
    await store.backup(to, { progress: () => allPages })
  } finally {
    store.close()
  }
  checkPages(to)
}

/** Throws for a file that is damaged or not a database. */
export function checkPages(path: string): void {
  const copy = new BetterSqlite3(path, { fileMustExist: true })
  try {
    const found = copy.pragma('quick_check(1)', { simple: true })
    if (found !== 'ok') throw new Error(`the store is damaged: ${String(found)}`)
  } finally {
    copy.close()
  }
}
