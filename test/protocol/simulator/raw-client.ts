/** A byte-level client of the management port, so that tests see exactly what is sent and counted, without our own code in between. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'

export interface RawReply {
  readonly status: number
  /** latin1: one character, one byte. */
  readonly body: string
}

export class RawClient {
  #received = Buffer.alloc(0)
  #hasEnded = false
  #wake: () => void = () => undefined

  constructor(readonly stream: Duplex) {
    stream.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#wake()
    })
    for (const event of ['end', 'close'])
      stream.once(event, () => {
        this.#hasEnded = true
        this.#wake()
      })
    stream.on('error', () => undefined)
  }

  /** Bytes received that do not form a reply yet. */
  get rest(): string {
    return this.#received.toString('latin1')
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  write(text: string): void {
    if (!this.stream.destroyed) this.stream.write(Buffer.from(text, 'latin1'))
  }

  /** Sends a command of one or several lines and waits for its reply. */
  async ask(line: string): Promise<RawReply | 'closed'> {
    this.write(`${line}\n`)
    return this.next()
  }

  /** The next reply, or 'closed' when the connection ended before it was complete. */
  async next(): Promise<RawReply | 'closed'> {
    for (;;) {
      const reply = this.#take()
      if (reply !== undefined) return reply
      if (this.#hasEnded) return 'closed'
      await this.#change()
    }
  }

  /** Waits until this many bytes have arrived. */
  async waitForBytes(count: number): Promise<string> {
    while (this.#received.length < count && !this.#hasEnded) await this.#change()
    return this.rest
  }

  async waitForEnd(): Promise<void> {
    while (!this.#hasEnded) await this.#change()
  }

  close(): void {
    this.stream.destroy()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #take(): RawReply | undefined {
    const header = /^(\d{3}) (\d{1,8}) *\n/.exec(this.#received.toString('latin1', 0, 13))
    if (header === null || header[0].length !== 13) return undefined
    const length = Number(header[2])
    if (this.#received.length < 13 + length + 1) return undefined
    const body = this.#received.toString('latin1', 13, 13 + length)
    if (this.#received[13 + length] !== 0x0a) throw new Error('a reply does not end in LF')
    this.#received = this.#received.subarray(13 + length + 1)
    return { status: Number(header[1]), body }
  }
}

export async function openTcp(port: number): Promise<RawClient> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  const client = new RawClient(socket)
  await once(socket, 'connect')
  return client
}

/** The `auth …` line for the body of a challenge. */
export function answer(challenge: string, secret: string): string {
  const letters = challenge.slice(0, 32)
  const digest = createHash('sha256').update(`${letters}\n${secret}${letters}\n`, 'latin1')
  return `auth ${digest.digest('hex')}`
}

/** Reads the challenge and answers it; returns the reply. */
export async function authenticate(
  client: RawClient,
  secret: string,
): Promise<RawReply | 'closed'> {
  const challenge = await client.next()
  if (challenge === 'closed') return challenge
  return client.ask(answer(challenge.body, secret))
}
