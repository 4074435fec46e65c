/**
 * The backup file: a header line, a salt, a code that verifies the passphrase, and a stream sealed with a key derived from salt
 * and passphrase (docs/behaviour.md, Backup). The stream holds the length of the contents, the contents as JSON, and the parts.
 */
import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { Type } from 'typebox'
import { parseFitting, prepareGuard } from '../mismatch.js'
import { text, whole, type Fitting } from '../resources/json-fields.js'
import { DamagedStream, openStream, sealStream } from './sealed-stream.js'

const firstLine = 'cachefleet backup 1\n'
/** Another version of the file format may change these. N = 2^17, r = 8: 128 MiB for each guess (OWASP, Password Storage). */
const scryptCost = { N: 131_072, r: 8, p: 1, maxmem: 256 * 1_048_576 }
const saltBytes = 32
const codeBytes = 32
const keyBytes = 32
const lengthBytes = 4
const descriptionMostBytes = 65_536

const contents = Type.Object({
  /** The version of the program that made the backup. */
  version: text,
  /** ISO 8601. */
  at: text,
  /** For PostgreSQL, the backup contains only the keys. */
  store: Type.Union([Type.Literal('sqlite'), Type.Literal('postgres')]),
  parts: Type.Array(
    Type.Object({
      name: Type.Union([Type.Literal('store'), Type.Literal('secretKey'), Type.Literal('ca')]),
      bytes: whole(0),
    }),
    { maxItems: 10 },
  ),
})
export type BackupContents = Fitting<typeof contents>
const isContents = prepareGuard(contents)

/** Why a file cannot be restored: one line. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
}

const damaged = 'the backup was cut or changed; nothing was restored'

/** Yields the bytes of the file. `parts`: the bytes of all parts, concatenated. */
export async function* sealBackup(
  passphrase: string,
  description: BackupContents,
  parts: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const start = Buffer.concat([Buffer.from(firstLine), randomBytes(saltBytes)])
  const { codeKey, streamKey } = await deriveKeys(passphrase, start.subarray(firstLine.length))
  yield start
  yield codeOf(codeKey, start)
  yield* sealStream(streamKey, describeFirst(description, parts))
}

async function* describeFirst(
  description: BackupContents,
  parts: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const json = Buffer.from(JSON.stringify(description))
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt32BE(json.length)
  yield Buffer.concat([length, json])
  yield* parts
}

export interface OpenedBackup {
  readonly contents: BackupContents
  /** Call once for each part, in order. Throws BackupError, also while its pieces are read. */
  readonly readPart: (bytes: number) => AsyncGenerator<Buffer>
  /** Throws BackupError if more data follows. */
  readonly end: () => Promise<void>
}

/** `source`: the file. Throws BackupError with the reason. */
export async function openBackup(
  passphrase: string,
  source: AsyncIterable<Buffer>,
): Promise<OpenedBackup> {
  const file = new Reader(source[Symbol.asyncIterator]())
  const line = await file.take(firstLine.length, 'the file is no backup of cachefleet')
  requireKnown(line.toString('latin1'))
  const salt = await file.take(saltBytes)
  const { codeKey, streamKey } = await deriveKeys(passphrase, salt)
  if (!timingSafeEqual(codeOf(codeKey, Buffer.concat([line, salt])), await file.take(codeBytes)))
    throw new BackupError('the passphrase is not that of the backup, or its beginning was changed')
  const inside = new Reader(openStream(streamKey, file.rest()))
  const length = (await inside.take(lengthBytes)).readUInt32BE()
  if (length > descriptionMostBytes) throw new BackupError(damaged)
  const described = parseFitting((await inside.take(length)).toString(), isContents)
  if (!described) throw new BackupError(damaged)
  return {
    contents: described,
    readPart: (bytes) => inside.pieces(bytes),
    end: async () => {
      if (!(await inside.isAtEnd())) throw new BackupError(damaged)
    },
  }
}

function requireKnown(line: string): void {
  if (line === firstLine) return
  if (/^cachefleet backup \d/.test(line))
    throw new BackupError('a newer version has made this backup: restore it with that version')
  throw new BackupError('the file is no backup of cachefleet')
}

async function deriveKeys(
  passphrase: string,
  salt: Buffer,
): Promise<{ readonly codeKey: Buffer; readonly streamKey: Buffer }> {
  const keys = await new Promise<Buffer>((resolve, reject) => {
    scrypt(passphrase.normalize('NFC'), salt, 2 * keyBytes, scryptCost, (error, derived) => {
      if (error) reject(error)
      else resolve(derived)
    })
  })
  return { codeKey: keys.subarray(0, keyBytes), streamKey: keys.subarray(keyBytes) }
}

/** Distinguishes a wrong passphrase from damage later in the file. */
function codeOf(codeKey: Buffer, start: Buffer): Buffer {
  return createHmac('sha256', codeKey).update(start).digest()
}

/** Reads a given number of bytes from pieces of any size; holds at most one piece. */
class Reader {
  readonly #source: AsyncIterator<Buffer>
  #held: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterator<Buffer>) {
    this.#source = source
  }

  /** For small amounts. Throws BackupError if fewer bytes are left. */
  async take(bytes: number, otherwise = damaged): Promise<Buffer> {
    const pieces = []
    for await (const piece of this.pieces(bytes, otherwise)) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  async *pieces(bytes: number, otherwise = damaged): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0;) {
      if (await this.isAtEnd()) throw new BackupError(otherwise)
      const piece = this.#held.subarray(0, left)
      this.#held = this.#held.subarray(piece.length)
      left -= piece.length
      yield piece
    }
  }

  async *rest(): AsyncGenerator<Buffer> {
    while (!(await this.isAtEnd())) {
      const piece = this.#held
      this.#held = Buffer.alloc(0)
      yield piece
    }
  }

  async isAtEnd(): Promise<boolean> {
    while (this.#held.length === 0) {
      const next = await this.#source.next().catch((error: unknown) => {
        throw error instanceof DamagedStream ? new BackupError(damaged, { cause: error }) : error
      })
      if (next.done === true) return true
      this.#held = next.value
    }
    return false
  }
}
