/** The readers of the live log here: admitted, written to as fast as they read, ended when token, permission or time ends. */
import type { Logger } from 'pino'
import type { LogPart } from '../bus/subjects.js'
import { FleetError } from '../../errors.js'
import { may, type Actor } from '../../resources/permission.js'
import type { EventStream } from '../http/event-stream.js'
import type { SessionWatch } from '../identity/session-watch.js'
import { startLoop, type Loop } from '../../runtime/loop.js'
import type { AskedLog, LogStreams } from './log-streams.js'

interface NewReader {
  readonly actor: Actor
  readonly asked: readonly AskedLog[]
  /** Formats at most `most` lines of a part. */
  readonly print: (part: LogPart, most: number) => readonly string[]
  /** When the token expires, which ends the reader; milliseconds since 1970. */
  readonly expiresAtMs: number
}

interface LogReadersOptions {
  readonly streams: LogStreams
  readonly sessions: SessionWatch
  readonly now: () => number
  readonly log: Logger
}

/** docs/behaviour.md, Live log. */
const readersOfOrganization = 20
const maxReaders = 200
const maxCaches = 10_000
const maxLinesPerSecond = 5_000
const longestMs = 30 * 60_000
/** A reader with more unread bytes gets no lines until it has read them. */
const waitingMostBytes = 256 * 1024
/** A reader that has been over the limit for this long is disconnected. */
const stuckMostMs = 30_000
const everyMs = 1_000
const retryAfterSeconds = 10

export class LogReaders {
  readonly #options: LogReadersOptions
  readonly #open = new Set<LogReader>()
  readonly #loop: Loop

  constructor(options: LogReadersOptions) {
    this.#options = options
    this.#loop = startLoop({
      log: options.log,
      trouble: 'log readers cannot be notified of dropped records',
      everyMs,
      holdsProcess: false,
      pass: () => {
        for (const reader of this.#open) reader.endSecond(options.now())
      },
    })
  }

  /** Throws FleetError 'limited'. */
  requireRoom({ organizationId }: Actor, caches: number): void {
    const held = [...this.#open].filter((one) => one.organizationId === organizationId).length
    if (organizationId !== null && held >= readersOfOrganization)
      throw limited(`this organization reads the log ${readersOfOrganization} times here already`)
    if (this.#open.size >= maxReaders)
      throw limited(`this coordinator has ${maxReaders} readers of the log already`)
    if (this.#options.streams.size + caches > maxCaches)
      throw limited(`with these ${caches} caches, more than ${maxCaches} logs would be read here`)
  }

  listen(reader: NewReader, connection: EventStream): void {
    const { streams, sessions, now } = this.#options
    const open = new LogReader(reader, connection, now())
    this.#open.add(open)
    const stop = streams.open(reader.asked, (part) => {
      open.take(part)
    })
    const session = sessions.watch(reader.actor, (actor) => {
      if (actor === null || !may(actor, 'log', 'read')) open.end('the session ended')
    })
    connection.onClose(() => {
      stop()
      session.close()
      this.#open.delete(open)
    })
    connection.write(Buffer.from(':\n\n'))
  }

  async close(): Promise<void> {
    for (const reader of this.#open) reader.end('the coordinator stops')
    await this.#loop.close()
  }
}

class LogReader {
  readonly organizationId: number | null
  readonly #reader: NewReader
  readonly #connection: EventStream
  readonly #endsAtMs: number
  readonly #agentsLeft: Set<number>
  #lines = 0
  #dropped = 0
  #stuckSinceMs: number | null = null

  constructor(reader: NewReader, connection: EventStream, nowMs: number) {
    this.organizationId = reader.actor.organizationId
    this.#reader = reader
    this.#connection = connection
    this.#endsAtMs = Math.min(nowMs + longestMs, reader.expiresAtMs)
    this.#agentsLeft = new Set(reader.asked.map(({ agentId }) => agentId))
  }

  take(part: LogPart): void {
    this.#dropped += part.dropped
    const isBehind = this.#connection.waitingBytes > waitingMostBytes
    const room = isBehind ? 0 : Math.max(0, maxLinesPerSecond - this.#lines)
    const lines = this.#reader.print(part, room)
    this.#lines += lines.length
    this.#dropped += part.transactions.length - lines.length
    if (lines.length > 0)
      this.#connection.write(
        Buffer.from(lines.map((data) => `event: transaction\ndata: ${data}\n\n`).join('')),
      )
    if (part.ended === null) return
    this.#write('ended', { agent: part.agentId, reason: part.ended })
    this.#agentsLeft.delete(part.agentId)
    if (this.#agentsLeft.size === 0) this.#connection.end()
  }

  endSecond(nowMs: number): void {
    const { waitingBytes } = this.#connection
    this.#stuckSinceMs = waitingBytes > waitingMostBytes ? (this.#stuckSinceMs ?? nowMs) : null
    if (this.#stuckSinceMs !== null && nowMs - this.#stuckSinceMs > stuckMostMs)
      this.#connection.cut()
    else if (nowMs >= this.#endsAtMs) this.end('its time is over; begin again to read on')
    else if (waitingBytes === 0) {
      if (this.#dropped > 0) this.#write('dropped', { dropped: this.#dropped })
      else if (this.#lines === 0) this.#connection.write(Buffer.from(':\n\n'))
      this.#dropped = 0
    }
    this.#lines = 0
  }

  end(reason: string): void {
    this.#write('ended', { agent: null, reason })
    this.#connection.end()
  }

  #write(event: string, data: object): void {
    this.#connection.write(Buffer.from(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`))
  }
}

function limited(message: string): FleetError {
  return new FleetError('limited', 'log', `${message}; end some`, { retryAfterSeconds })
}
