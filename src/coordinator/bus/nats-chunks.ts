/**
 * Values too large for one message of NATS: the sender keeps the text and sends a reference to it; the receiver
 * fetches it chunk by chunk.
 */
import { randomUUID } from 'node:crypto'
import { FleetError } from '../../errors.js'

/** Sent instead of the text. */
export interface ChunkReference {
  /** The subject on which the sender serves chunks. */
  readonly subject: string
  readonly id: string
  readonly sizeBytes: number
  readonly partBytes: number
}

/** The largest value: an answer of an agent (64 MiB, docs/behaviour.md, Failing) and its envelope. */
const valueLimitBytes = 72 << 20
/** Limit of bytes of all chunks that wait to be fetched from this process. */
const storeLimitBytes = 4 * valueLimitBytes
/** A value whose next chunk is not requested within this time is dropped. */
const keptMs = 30_000

interface StoredValue {
  readonly bytes: Buffer
  readonly partBytes: number
  timer: NodeJS.Timeout
}

export class ChunkStore {
  readonly #subject: string
  readonly #values = new Map<string, StoredValue>()
  #sizeBytes = 0

  constructor(subject: string) {
    this.#subject = subject
  }

  /** Throws FleetError 'too-large', or 'unavailable' while the store is full. */
  put(bytes: Buffer, partBytes: number): ChunkReference {
    requireCarriable(bytes.length)
    if (this.#sizeBytes + bytes.length > storeLimitBytes)
      throw new FleetError('unavailable', 'store', 'too many large values are in transit')
    const id = randomUUID()
    this.#sizeBytes += bytes.length
    this.#values.set(id, { bytes, partBytes, timer: this.#dropLater(id) })
    return { subject: this.#subject, id, sizeBytes: bytes.length, partBytes }
  }

  /** `<id> <number of the part, from 0>` → the part; empty if unknown. The last part removes the value. */
  give(asked: string): Buffer {
    const [id = '', number = ''] = asked.split(' ')
    const value = this.#values.get(id)
    if (!value) return Buffer.alloc(0)
    clearTimeout(value.timer)
    const start = Number(number) * value.partBytes
    const end = start + value.partBytes
    if (end >= value.bytes.length) this.#drop(id)
    else value.timer = this.#dropLater(id)
    return value.bytes.subarray(start, end)
  }

  clear(): void {
    for (const id of [...this.#values.keys()]) this.#drop(id)
  }

  #dropLater(id: string): NodeJS.Timeout {
    return setTimeout(() => {
      this.#drop(id)
    }, keptMs).unref()
  }

  #drop(id: string): void {
    const value = this.#values.get(id)
    if (!value) return
    clearTimeout(value.timer)
    this.#values.delete(id)
    this.#sizeBytes -= value.bytes.length
  }
}

/** `ask` returns the bytes of one part. Rejects if the sender is gone or has dropped the value. */
export async function fetchChunks(
  reference: ChunkReference,
  ask: (subject: string, asked: string) => Promise<Uint8Array>,
): Promise<Buffer> {
  requireCarriable(reference.sizeBytes)
  // Filled part by part, because concatenating them at the end would take long.
  const bytes = Buffer.allocUnsafe(reference.sizeBytes)
  for (let at = 0; at < reference.sizeBytes; at += reference.partBytes) {
    const part = await ask(reference.subject, `${reference.id} ${at / reference.partBytes}`)
    if (part.length !== Math.min(reference.partBytes, reference.sizeBytes - at))
      throw new FleetError('unavailable', 'store', 'a large value was lost on the bus')
    bytes.set(part, at)
  }
  return bytes
}

function requireCarriable(sizeBytes: number): void {
  if (sizeBytes > valueLimitBytes)
    throw new FleetError('too-large', 'store', `the bus carries at most ${valueLimitBytes} bytes`)
}
