/** One connection to a simulated engine: its pending input and its output. */
import { randomInt } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { cliStatus } from '../status.js'
import type { Caller, EngineSecret } from './commands/call.js'
import { encodeReply } from './reply-text.js'
import { RequestReader, type EngineRequest } from './request-reader.js'
import type { Quoting } from './release.js'
import type { Outgoing } from './spoiled-reply.js'

const challengeLetters = 32

interface SessionSetup {
  readonly secret: () => EngineSecret
  readonly quoting: Quoting
}

export class Session implements Caller {
  isAuthenticated: boolean
  challenge = ''
  isGreeted = false
  /** Nothing is read or sent any more, though the connection stays open. */
  isSilent = false
  /** The client has ended its side of the connection. */
  hasEnded = false
  /** Input was read that may contain further requests. */
  hasPending = false
  /** A request that a frozen engine executes once it resumes. */
  held: EngineRequest | undefined
  readonly #reader: RequestReader

  constructor(
    readonly stream: Duplex,
    private readonly setup: SessionSetup,
    onInput: (session: Session) => void,
  ) {
    this.isAuthenticated = setup.secret() === null
    this.#reader = new RequestReader(setup.quoting)
    stream.on('error', () => undefined) // a broken connection counts as closed
    stream.on('readable', () => {
      onInput(this)
    })
    stream.on('end', () => {
      this.hasEnded = true
      onInput(this)
    })
  }

  get secret(): EngineSecret {
    return this.setup.secret()
  }

  get isGone(): boolean {
    return this.stream.destroyed
  }

  /** Returns false once nothing more is read or sent. */
  isServed(): boolean {
    return !this.isGone && !this.isSilent
  }

  /** The challenge (107) that an engine with a secret sends first. */
  makeChallenge(): Buffer {
    const letters = Array.from({ length: challengeLetters }, () => randomInt(26) + 0x61)
    this.challenge = String.fromCharCode(...letters)
    return encodeReply(cliStatus.auth, `${this.challenge}\n\nAuthentication required.\n`)
  }

  /** Reads pending input; returns false if there was none. */
  read(): boolean {
    const chunk: unknown = this.stream.read()
    if (!(chunk instanceof Uint8Array)) return false
    this.#reader.push(Buffer.from(chunk).toString('latin1'))
    if (this.#reader.isOverflown) this.stream.destroy()
    return true
  }

  nextRequest(): EngineRequest | undefined {
    const { held } = this
    this.held = undefined
    return held ?? this.#reader.next(this.isAuthenticated)
  }

  /** Returns false if the client does not read: the engine's write then blocks its manager. */
  send({ bytes, then }: Outgoing): boolean {
    if (then === 'silence') this.isSilent = true
    const hasRoom = bytes.length === 0 || this.stream.write(bytes)
    if (then === 'close') this.close()
    return hasRoom || this.stream.destroyed || this.stream.writableEnded
  }

  close(): void {
    this.isSilent = true
    // Output already written is still delivered; unread input would keep the connection open.
    if (!this.stream.writableEnded) this.stream.end(() => this.stream.destroy())
    this.stream.resume()
  }
}
