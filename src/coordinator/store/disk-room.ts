/** Whether the disk of an SQLite store has room. */
import { statfs } from 'node:fs/promises'
import { FleetError } from '../../errors.js'

/** A few pages: what the smallest of calls writes. */
const roomLeastBytes = 65_536

/**
 * The journal is written anew from its start now and then, so a small write succeeds on a full disk for a while, and what is kept of it
 * does not fit into the file.
 */
export async function requireRoom(path: string): Promise<void> {
  const { bavail, bsize } = await statfs(path)
  if (bavail * bsize < roomLeastBytes)
    throw new FleetError('unavailable', 'store', `the disk of the store ${path} is full`)
}
