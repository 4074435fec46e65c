/**
 * Values too large for one message of NATS: the sender keeps the text as a parcel and sends its label, the receiver
 * fetches the parts, one after the other.
 */
import { randomUUID } from 'node:crypto'
import { FleetError } from '../../errors.js'

/** What travels in place of the text. */
export interface ParcelLabel {
  /** Where its parts are asked for: the sender's shelf. */
  readonly shelf: string
  readonly id: string
  readonly sizeBytes: number
  readonly partBytes: number
}

/** The largest value: an answer of an agent (64 MiB, docs/behaviour.md, Failing) and what is around it. */
export const valueLimitBytes = 72 << 20
/** Chosen by us: parcels of a process that wait to be fetched, all together. */
const shelfLimitBytes = 4 * valueLimitBytes
/** Chosen by us: a parcel whose next part is not asked for this long is thrown away. */
const keptMs = 30_000

interface Parcel {
  readonly bytes: Buffer
  readonly partBytes: number
  timer: NodeJS.Timeout
}

export class ParcelShelf {
  readonly #subject: string
  readonly #parcels = new Map<string, Parcel>()
  #sizeBytes = 0

  constructor(subject: string) {
    this.#subject = subject
  }

  /** Throws FleetError 'too-large', or 'unavailable' while the shelf is full. */
  put(bytes: Buffer, partBytes: number): ParcelLabel {
    requireCarriable(bytes.length)
    if (this.#sizeBytes + bytes.length > shelfLimitBytes)
      throw new FleetError('unavailable', 'store', 'too many large values are in transit')
    const id = randomUUID()
    this.#sizeBytes += bytes.length
    this.#parcels.set(id, { bytes, partBytes, timer: this.#throwAwayLater(id) })
    return { shelf: this.#subject, id, sizeBytes: bytes.length, partBytes }
  }

  /** `<id> <number of the part, from 0>` → the part; empty when it is not here. The last part empties the place. */
  give(asked: string): Buffer {
    const [id = '', number = ''] = asked.split(' ')
    const parcel = this.#parcels.get(id)
    if (!parcel) return Buffer.alloc(0)
    clearTimeout(parcel.timer)
    const start = Number(number) * parcel.partBytes
    const end = start + parcel.partBytes
    if (end >= parcel.bytes.length) this.#throwAway(id)
    else parcel.timer = this.#throwAwayLater(id)
    return parcel.bytes.subarray(start, end)
  }

  clear(): void {
    for (const id of [...this.#parcels.keys()]) this.#throwAway(id)
  }

  #throwAwayLater(id: string): NodeJS.Timeout {
    return setTimeout(() => {
      this.#throwAway(id)
    }, keptMs).unref()
  }

  #throwAway(id: string): void {
    const parcel = this.#parcels.get(id)
    if (!parcel) return
    clearTimeout(parcel.timer)
    this.#parcels.delete(id)
    this.#sizeBytes -= parcel.bytes.length
  }
}

/** `ask` answers the bytes of one part. Rejects when the sender is gone or threw it away. */
export async function fetchParcel(
  label: ParcelLabel,
  ask: (shelf: string, asked: string) => Promise<Uint8Array>,
): Promise<Buffer> {
  requireCarriable(label.sizeBytes)
  // Filled part by part: to put them together at the end would take long.
  const bytes = Buffer.allocUnsafe(label.sizeBytes)
  for (let at = 0; at < label.sizeBytes; at += label.partBytes) {
    const part = await ask(label.shelf, `${label.id} ${at / label.partBytes}`)
    if (part.length !== Math.min(label.partBytes, label.sizeBytes - at))
      throw new FleetError('unavailable', 'store', 'a large value was lost on the bus')
    bytes.set(part, at)
  }
  return bytes
}

function requireCarriable(sizeBytes: number): void {
  if (sizeBytes > valueLimitBytes)
    throw new FleetError('too-large', 'store', `the bus carries at most ${valueLimitBytes} bytes`)
}
