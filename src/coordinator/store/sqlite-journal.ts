/**
 * Syncs the write-ahead log of an SQLite file in a thread of the pool: SQLite's own `synchronous = FULL` blocks the
 * committing thread until the disk has finished, and with it all agent links and API requests.
 */
import { open, type FileHandle } from 'node:fs/promises'
import { FleetError } from '../../errors.js'
import type { SqliteFile } from './sqlite-library.js'

export interface SqliteJournal {
  /** Resolves when all earlier commits are on disk. Rejects with FleetError 'unavailable'. One call at a time. */
  sync(): Promise<void>
  /** Call before the file is deleted; the next `sync` opens the new one. */
  close(): Promise<void>
}

/** The file exists from the first transaction on. */
export function openJournal(database: SqliteFile): SqliteJournal {
  // Absolute and without symbolic links, as SQLite itself uses it.
  const [main] = database.pragma('database_list') as [{ readonly file: string }] // sqlite.org/pragma.html
  const path = `${main.file}-wal`
  let file: FileHandle | null = null
  return {
    sync: async () => {
      try {
        file ??= await open(path, 'r+')
        await file.datasync()
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        const detail = { retryAfterSeconds: 10, cause: error }
        throw new FleetError('unavailable', 'store', `the store does not work: ${reason}`, detail)
      }
    },
    close: async () => {
      await file?.close()
      file = null
    },
  }
}
