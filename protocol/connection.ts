/**
 * One authenticated connection to a management port: `run` is the only verb, `runAll` the same for many.
 *
 * The wire has no request ids: replies match commands by their order. So whatever breaks that order (a late answer, garbage,
 * an answer too many) ends the connection, and nothing is ever sent twice by us.
 */

import { createConnection } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Command } from './command.js'
import { PendingCommand, type AnyPendingCommand, type Settle } from './pending-command.js'
import { ManagementPortError } from './errors.js'
import { ReplyDecoder } from './frame.js'
import { authenticate, type HandshakeOptions } from './handshake.js'
import type { Banner } from './release.js'
import { createReplyClock } from './reply-clock.js'

interface ConnectionOptions extends HandshakeOptions {
  /** For commands that name no time of their own. Default 10 s: another client's compile holds up ours. */
  readonly timeoutMs?: number
  /** Commands that may wait unsent; one more is refused. Default 1,000. */
  readonly queueLimit?: number
}

export interface PortOptions extends ConnectionOptions {
  readonly host: string
  readonly port: number
}

export interface RunOptions {
  /** Wins over the command's own. Counts from when the command is the next to be answered. */
  readonly timeoutMs?: number
}

interface RunAllOptions extends RunOptions {
  /** Commands in flight at most. Default 8: from there on the cache's one thread is the bound. */
  readonly window?: number
}

export type Outcome<Result> =
  | { readonly ok: true; readonly result: Result }
  | { readonly ok: false; readonly error: ManagementPortError }

const defaultTimeoutMs = 10_000
const defaultQueueLimit = 1_000
const defaultWindow = 8
const keepAliveMs = 30_000

/** Dials, authenticates, resolves when commands may be run. */
export function connectManagementPort(options: PortOptions): Promise<ManagementConnection> {
  const { host, port } = options
  const socket = createConnection({
    host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMs,
  })
  return openManagementConnection(socket, options)
}

/** Takes over a connected stream, or a socket about to connect. */
export async function openManagementConnection(
  stream: Duplex,
  options: ConnectionOptions,
): Promise<ManagementConnection> {
  const decoder = new ReplyDecoder()
  const banner = await authenticate(stream, decoder, options)
  return new ManagementConnection(stream, { decoder, banner, ...options })
}

interface Opened {
  readonly decoder: ReplyDecoder
  readonly banner: Banner
  readonly timeoutMs?: number
  readonly queueLimit?: number
}

export class ManagementConnection {
  readonly banner: Banner
  /** Resolves, never rejects, with the reason once this connection is of no more use. */
  readonly closed: Promise<ManagementPortError>

  readonly #stream: Duplex
  readonly #decoder: ReplyDecoder
  readonly #timeoutMs: number
  readonly #queueLimit: number
  readonly #waiting: AnyPendingCommand[] = []
  readonly #inFlight: AnyPendingCommand[] = []
  /** Of the last one written: one that wants to be alone lets none follow it. */
  #window = 1
  #isBlocked = false
  #isReading = false
  #closeReason: ManagementPortError | null = null
  #resolveClosed: (reason: ManagementPortError) => void = () => undefined
  readonly #clock = createReplyClock<AnyPendingCommand>({
    oldest: () => this.#inFlight[0],
    onLate: (late) => {
      this.#end('timeout', `no answer within ${late.timeoutMs} ms`)
    },
  })

  constructor(stream: Duplex, opened: Opened) {
    this.#stream = stream
    this.#decoder = opened.decoder
    this.banner = opened.banner
    this.#timeoutMs = opened.timeoutMs ?? defaultTimeoutMs
    this.#queueLimit = opened.queueLimit ?? defaultQueueLimit
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve
    })
    const onEnd = () => {
      this.#end('lost', 'the cache closed the connection')
    }
    stream.on('data', (chunk: Buffer) => {
      this.#read(chunk)
    })
    stream.on('drain', () => {
      this.#isBlocked = false
      this.#write()
    })
    stream.on('end', onEnd).on('close', onEnd)
    stream.on('error', (error) => {
      this.#end('lost', `the connection failed: ${error.message}`, error)
    })
    if (stream.destroyed || stream.readableEnded) onEnd()
    else stream.resume()
  }

  get isClosed(): boolean {
    return this.#closeReason !== null
  }

  /** Commands unanswered, in flight or waiting. */
  get pendingCount(): number {
    return this.#inFlight.length + this.#waiting.length
  }

  /** Sends one command when all before it are answered. Rejects with a ManagementPortError only. */
  run<Result>(command: Command<Result>, options: RunOptions = {}): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#enqueue(this.#toErrand(command, 1, options, { resolve, reject }))
    })
  }

  /**
   * Runs many in their order, a sliding window of them in flight: each reply lets the next go. An outcome for each, in
   * order; a rejected one does not stop the others. A burst would be slower than one by one (Nagle at the cache waits for
   * acknowledgements that our side delays by 40 ms).
   */
  async runAll<Result>(
    commands: readonly Command<Result>[],
    options: RunAllOptions = {},
  ): Promise<Outcome<Result>[]> {
    const outcomes = new Array<Outcome<Result>>(commands.length)
    const window = Math.max(1, options.window ?? defaultWindow)
    let offered = 0
    let settled = 0
    let isOffering = false
    await new Promise<void>((resolve, reject) => {
      const settle = (index: number, outcome: Outcome<Result>) => {
        outcomes[index] = outcome
        settled++
        offer()
      }
      const offer = () => {
        if (isOffering) return // called by a command that failed at once: the loop below goes on
        isOffering = true
        while (offered < commands.length && offered - settled < window) {
          const index = offered++
          const command = commands[index]
          if (command) this.#enqueue(this.#toErrand(command, window, options, settleAt(index)))
        }
        isOffering = false
        if (settled === commands.length) resolve()
      }
      const settleAt = (index: number): Settle<Result> => ({
        resolve: (result) => {
          settle(index, { ok: true, result })
        },
        reject: (error) => {
          if (error instanceof ManagementPortError) settle(index, { ok: false, error })
          else reject(error)
        },
      })
      offer()
    })
    return outcomes
  }

  /** Ends at once; what is in flight may have run. */
  close(): void {
    this.#end('lost', 'closed by us')
  }

  #toErrand<Result>(
    command: Command<Result>,
    window: number,
    options: RunOptions,
    settle: Settle<Result>,
  ): PendingCommand<Result> {
    const timeoutMs = options.timeoutMs ?? command.timeoutMs ?? this.#timeoutMs
    return new PendingCommand(command, { window, timeoutMs }, settle)
  }

  #enqueue(command: AnyPendingCommand): void {
    if (this.#closeReason) {
      const detail = { command: command.name, sent: false, cause: this.#closeReason }
      command.fail(
        new ManagementPortError('lost', `not sent: ${this.#closeReason.message}`, detail),
      )
    } else if (this.#waiting.length >= this.#queueLimit) {
      const reason = `refused before sending: ${this.#queueLimit} commands are waiting already`
      command.fail(new ManagementPortError('refused', reason, { command: command.name }))
    } else {
      this.#waiting.push(command)
      if (!this.#isReading) this.#write()
    }
  }

  /** Writes what the window lets go, as one piece. True when there was any. */
  #write(): boolean {
    let text = ''
    let isAny = false
    while (!this.#isBlocked) {
      const next = this.#waiting[0]
      if (!next || !this.#hasRoomFor(next)) break
      this.#waiting.shift()
      this.#inFlight.push(next)
      this.#window = next.window
      if (this.#inFlight.length === 1) this.#clock.start(next)
      isAny = true
      if (typeof next.line === 'string') text += `${next.line}\n`
      else {
        this.#send(text)
        this.#send(next.line)
        text = '\n'
      }
    }
    this.#send(text)
    return isAny
  }

  #hasRoomFor(next: AnyPendingCommand): boolean {
    const inFlight = this.#inFlight.length
    return inFlight === 0 || inFlight < Math.min(next.window, this.#window)
  }

  #send(bytes: string | Buffer): void {
    if (bytes.length > 0 && !this.#stream.write(bytes)) this.#isBlocked = true
  }

  #read(chunk: Buffer): void {
    this.#isReading = true
    for (const reply of this.#decoder.push(chunk)) {
      const answered = this.#inFlight.shift()
      if (!answered) {
        this.#end('garbled', `the cache sent an answer (${reply.status}) that nobody asked for`)
        break
      }
      answered.take(reply)
    }
    this.#isReading = false
    if (this.#closeReason) return
    if (this.#decoder.failure) {
      this.#end('garbled', this.#decoder.failure.message)
      return
    }
    const oldest = this.#inFlight[0]
    if (oldest) this.#clock.start(oldest)
    // An empty line has no answer, but carries the acknowledgement that the cache's Nagle waits for (else 40 ms a window's end).
    if (!this.#write() && oldest && this.#decoder.isBetweenReplies) this.#send('\n')
  }

  #end(kind: 'lost' | 'timeout' | 'garbled', message: string, cause?: unknown): void {
    if (this.#closeReason) return
    this.#closeReason = new ManagementPortError(kind, message, { cause })
    this.#clock.stop()
    this.#stream.destroy()
    this.#inFlight.splice(0).forEach((command, index) => {
      // The oldest is the one that took too long or was answered with garbage; the others only share its line.
      const own = index === 0 ? kind : 'lost'
      const detail = { command: command.name, cause: this.#closeReason }
      command.fail(new ManagementPortError(own, message, detail))
    })
    this.#waiting.splice(0).forEach((command) => {
      const detail = { command: command.name, sent: false, cause: this.#closeReason }
      command.fail(new ManagementPortError('lost', `not sent: ${message}`, detail))
    })
    this.#resolveClosed(this.#closeReason)
  }
}
