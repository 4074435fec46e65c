/** Whether the disk of an SQLite store has room. */
import { statfs } from 'node:fs/promises'
import { FleetError } from '../../errors.js'

/** A few pages, as written by the smallest request. */
const roomLeastBytes = 65_536

/**
 * SQLite sometimes overwrites the journal from its start, so small writes succeed on a full disk for a while, although the
 * data then does not fit into the file.
 */
export async function requireRoom(path: string): Promise<void> {
  const { bavail, bsize } = await statfs(path)
  if (bavail * bsize < roomLeastBytes)
    throw new FleetError('unavailable', 'store', `the disk of the store ${path} is full`)
}
