/**
 * The write-ahead log of an SQLite file, put on disk by a thread of the pool: SQLite's own `synchronous = FULL` stops the thread
 * that commits for as long as the disk takes, and with it all links and calls.
 */
import { open, type FileHandle } from 'node:fs/promises'
import { FleetError } from '../../errors.js'
import type { SqliteFile } from './sqlite-library.js'

export interface SqliteJournal {
  /** Resolves when what was committed before is on disk. Rejects with FleetError 'unavailable'. One call at a time. */
  sync(): Promise<void>
  /** Before the file is deleted; the next `sync` opens the new one. */
  close(): Promise<void>
}

/** It is there from the first transaction on. */
export function openJournal(database: SqliteFile): SqliteJournal {
  // Absolute and without symbolic links, as SQLite itself has it.
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
