/**
 * Reads pieces of the cache's files, synchronously: they are shared memory that the cache locks, a piece takes
 * microseconds, and values that are read together belong to one moment.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** The process that writes them may have fewer rights than this one: links are not followed, and a pipe does not block. */
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** The piece is shorter if the file is. Throws errors of `open` and `read`: ENOENT when the file was removed, EACCES. */
export function readPiece(path: string, offset: number, length: number): Uint8Array {
  const file = openSync(path, openFlags)
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw new Error(`${path} is not a file`)
    // Its own buffer, so that it is aligned to eight bytes.
    const piece = new Uint8Array(Math.max(0, Math.min(length, stat.size - offset)))
    return piece.subarray(0, readSync(file, piece, 0, piece.length, offset))
  } finally {
    closeSync(file)
  }
}

/** Uses the host's byte order, which is also the cache's: both run on this host. `offset` is a multiple of eight. */
export function readWord(piece: Uint8Array, offset: number): bigint {
  if (offset % 8 !== 0 || offset < 0 || offset + 8 > piece.length) return 0n
  return new BigUint64Array(piece.buffer, piece.byteOffset + offset, 1)[0] ?? 0n
}
