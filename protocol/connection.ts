/**
 * One authenticated connection to a management port: `run` sends one command, `runAll` sends many.
 *
 * The protocol has no request ids: replies match commands by order. Anything that breaks this order (a late reply, garbage, an extra reply)
 * ends the connection, and no command is ever sent twice.
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
  /** For commands without their own limit. Default 10 s: compiles of other clients block the cache. */
  readonly timeoutMs?: number
  /** Maximum number of unsent commands; further ones are refused. Default 1,000. */
  readonly queueLimit?: number
}

export interface PortOptions extends ConnectionOptions {
  readonly host: string
  readonly port: number
}

export interface RunOptions {
  /** Overrides the command's own limit. Starts once the command is the next to be answered. */
  readonly timeoutMs?: number
}

interface RunAllOptions extends RunOptions {
  /** Maximum number of commands in flight. Default 8: beyond that, the cache's single thread is the bottleneck. */
  readonly window?: number
}

export type Outcome<Result> =
  | { readonly ok: true; readonly result: Result }
  | { readonly ok: false; readonly error: ManagementPortError }

const defaultTimeoutMs = 10_000
const defaultQueueLimit = 1_000
const defaultWindow = 8
const keepAliveMs = 30_000

/** Connects and authenticates; resolves once commands may be run. */
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

/** Uses a connected stream, or a socket that is connecting. */
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
  /** Resolves with the reason once this connection is unusable; never rejects. */
  readonly closed: Promise<ManagementPortError>

  readonly #stream: Duplex
  readonly #decoder: ReplyDecoder
  readonly #timeoutMs: number
  readonly #queueLimit: number
  readonly #waiting: AnyPendingCommand[] = []
  readonly #inFlight: AnyPendingCommand[] = []
  /** Window of the last command written; a window of 1 admits no further command. */
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

  /** Number of unanswered commands, in flight or waiting. */
  get pendingCount(): number {
    return this.#inFlight.length + this.#waiting.length
  }

  /** Sends one command once all earlier ones are answered. Rejects with a ManagementPortError only. */
  run<Result>(command: Command<Result>, options: RunOptions = {}): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#enqueue(this.#toErrand(command, 1, options, { resolve, reject }))
    })
  }

  /**
   * Runs many commands in order with a sliding window in flight: each reply releases the next command. Returns the outcomes in order; a
   * rejected command does not stop the others. A burst would be slower than one command at a time, because Nagle's algorithm at the cache
   * waits for acknowledgements that our side delays by 40 ms.
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
        if (isOffering) return // called by a command that failed at once: the loop below continues
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

  /** Ends immediately; commands in flight may have run. */
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

  /** Writes the commands that the window admits, as one piece. Returns true if there were any. */
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
        this.#end('garbled', `the cache sent a reply (${reply.status}) that answers no command`)
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
    // An empty line gets no reply, but carries the acknowledgement for which the cache's Nagle waits (else 40 ms per window).
    if (!this.#write() && oldest && this.#decoder.isBetweenReplies) this.#send('\n')
  }

  #end(kind: 'lost' | 'timeout' | 'garbled', message: string, cause?: unknown): void {
    if (this.#closeReason) return
    this.#closeReason = new ManagementPortError(kind, message, { cause })
    this.#clock.stop()
    this.#stream.destroy()
    this.#inFlight.splice(0).forEach((command, index) => {
      // The oldest command took too long or got garbage; the others are only lost with the connection.
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
