/**
 * Reads pieces of the cache's files. Synchronously: they are memory that the cache shares (and locks), a piece takes
 * microseconds, and what is read together belongs to one moment.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** The process that writes them may have fewer rights than this one: no links are followed, no pipe is waited for. */
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Shorter where the file is. Throws what `open` and `read` do: ENOENT when it went, EACCES. */
export function readPiece(path: string, offset: number, length: number): Uint8Array {
  const file = openSync(path, openFlags)
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw new Error(`${path} is not a file`)
    // Of its own, so that it begins at a multiple of eight.
    const piece = new Uint8Array(Math.max(0, Math.min(length, stat.size - offset)))
    return piece.subarray(0, readSync(file, piece, 0, piece.length, offset))
  } finally {
    closeSync(file)
  }
}

/** The process's own order of bytes is the cache's: both run on this host. `offset` is a multiple of eight. */
export function readWord(piece: Uint8Array, offset: number): bigint {
  if (offset % 8 !== 0 || offset < 0 || offset + 8 > piece.length) return 0n
  return new BigUint64Array(piece.buffer, piece.byteOffset + offset, 1)[0] ?? 0n
}
