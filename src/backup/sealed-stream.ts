/**
 * A stream of pieces, encrypted and authenticated as a whole: a changed, moved or missing piece is detected before its data is
 * yielded. AES-256-GCM by piece; the nonce counts and marks the last one (STREAM, Hoang, Reyhanitabar, Rogaway, Vizár 2015).
 */
import { createCipheriv, createDecipheriv, type CipherGCMTypes } from 'node:crypto'

const cipher: CipherGCMTypes = 'aes-256-gcm'
/** The size of all pieces but the last. */
export const pieceBytes = 65_536
const tagBytes = 16
const nonceBytes = 12

/** The data read differs from the data written. */
export class DamagedStream extends Error {
  override readonly name = 'DamagedStream'
}

/** `key`: 32 bytes, used for this stream only, because each stream uses the same nonces. */
export async function* sealStream(
  key: Buffer,
  source: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  for await (const { bytes, at, isLast } of cut(source, pieceBytes)) {
    const encrypt = createCipheriv(cipher, key, nonceOf(at, isLast))
    yield Buffer.concat([encrypt.update(bytes), encrypt.final(), encrypt.getAuthTag()])
  }
}

/** Throws DamagedStream. */
export async function* openStream(
  key: Buffer,
  source: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  for await (const { bytes, at, isLast } of cut(source, pieceBytes + tagBytes))
    yield openPiece(key, bytes, nonceOf(at, isLast))
}

function openPiece(key: Buffer, bytes: Buffer, nonce: Buffer): Buffer {
  const textBytes = bytes.length - tagBytes
  if (textBytes < 0) throw new DamagedStream()
  const decrypt = createDecipheriv(cipher, key, nonce, { authTagLength: tagBytes })
  decrypt.setAuthTag(bytes.subarray(textBytes))
  try {
    return Buffer.concat([decrypt.update(bytes.subarray(0, textBytes)), decrypt.final()])
  } catch (cause) {
    throw new DamagedStream(undefined, { cause })
  }
}

/** One byte marks the last piece, so that truncation between two pieces is detected too. */
function nonceOf(at: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(nonceBytes)
  nonce.writeBigUInt64BE(BigInt(at), nonceBytes - 9)
  nonce.writeUInt8(isLast ? 1 : 0, nonceBytes - 1)
  return nonce
}

interface Piece {
  readonly bytes: Buffer
  readonly at: number
  readonly isLast: boolean
}

/** Yields at least one piece, which may be empty; a piece is not the last if another byte follows. */
async function* cut(source: AsyncIterable<Buffer>, size: number): AsyncGenerator<Piece> {
  let rest: Buffer = Buffer.alloc(0)
  let at = 0
  for await (const chunk of source) {
    rest = Buffer.concat([rest, chunk])
    for (; rest.length > size; at += 1) {
      yield { bytes: rest.subarray(0, size), at, isLast: false }
      rest = rest.subarray(size)
    }
  }
  yield { bytes: rest, at, isLast: true }
}
