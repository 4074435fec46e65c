/**
 * The agent's end of the link: keeps one WebSocket to the coordinator open for the agent's lifetime.
 *
 * ```mermaid
 * stateDiagram-v2
 *   [*] --> dialling
 *   dialling --> greeting: open, hello sent
 *   dialling --> waiting: refused, not reached
 *   greeting --> live: welcome
 *   greeting --> waiting: no welcome in time, closed
 *   live --> waiting: closed, silent, sequence gap, malformed message
 *   waiting --> dialling: 0.5 s to 8 s, full jitter
 * ```
 */
import type { Logger } from 'pino'
import type { RawData, WebSocket } from 'ws'
import { createContext, newTraceId, type Context } from '../../context.js'
import type {
  AgentDescription,
  AgentToCoordinator,
  EngineCondition,
} from '../../messages/agent-to-coordinator.js'
import { decodeCoordinatorMessage, encodeMessage } from '../../messages/codec.js'
import type { CoordinatorToAgent, Welcome } from '../../messages/coordinator-to-agent.js'
import { dialCoordinator, DialRefused, sendTogether, type DialOptions } from './dial.js'
import { explainFailure } from './explain-failure.js'
import { pauseFor } from '../../runtime/pause.js'
import { pauseAfter, pickBetween } from '../../runtime/backoff.js'
import { retryForever } from '../../runtime/retry.js'
import { startLoop, type Loop } from '../../runtime/loop.js'

export interface LinkOptions extends DialOptions {
  readonly describe: () => AgentDescription
  readonly condition: () => EngineCondition
  /** Awaited before the next message is passed on. A rejection closes the link. */
  readonly welcome: (welcome: Welcome, context: Context) => Promise<void>
  /** Must not throw or block; long work runs in the background. */
  readonly receive: (message: Exclude<CoordinatorToAgent, Welcome>, context: Context) => void
  /** Limits how many agents of one process dial at a time; no limit if absent. */
  readonly limitDials?: <T>(dial: () => Promise<T>) => Promise<T>
  readonly log: Logger
}

/** A message without the fields that the link adds. */
export type Unsent<Message extends AgentToCoordinator = AgentToCoordinator> =
  Message extends AgentToCoordinator ? Omit<Message, 'sequence'> : never

const welcomeTimeoutMs = 10_000
const shortestPauseMs = 500
const retries = { firstMs: 2_000, longestMs: 8_000 }
/** A peer counts as gone after three missed heartbeats, but never because this process stalled briefly. */
const shortestSilenceMs = 6_000
/** An idle link is pinged with every second heartbeat, since the coordinator writes each pong by itself; with each, if they are rare. */
const pingAfter = { heartbeats: 1.5, ms: 7_500 }
/** The link is closed when a coordinator does not read. */
const unsentLimitBytes = 16 << 20
/** While more bytes are unsent, optional messages are dropped. */
const behindBytes = 256 << 10

export class CoordinatorLink {
  readonly #options: LinkOptions
  readonly #ending = new AbortController()
  #session: Session | null = null
  #run: Promise<void> | null = null
  /** One warning per outage; later failures are logged as debug. */
  #complained = false
  #isKeyNew: boolean

  constructor(options: LinkOptions) {
    this.#options = options
    this.#isKeyNew = options.isKeyNew === true
  }

  start(): void {
    this.#run = this.#stayConnected()
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    this.#session?.end(1001, 'the agent stops')
    await this.#run
  }

  get isLive(): boolean {
    return this.#session?.isLive ?? false
  }

  /** Returns false when there is no link: important messages are sent again after the next welcome. */
  send(message: Unsent): boolean {
    return this.#session?.isLive === true && this.#session.send(message)
  }

  /** For optional messages. Also returns false while the link is behind, so that they delay no others. */
  sendIfClear(message: Unsent): boolean {
    return this.#session?.isBehind === false && this.send(message)
  }

  /** Sends a heartbeat early because the condition changed. */
  sendCondition(): void {
    this.#session?.sendHeartbeat()
  }

  /** Closes this link and opens another: the next welcome brings the true state. */
  redial(why: string): void {
    this.#session?.end(1002, why)
  }

  async #stayConnected(): Promise<void> {
    const { signal } = this.#ending
    while (!this.#isEnding()) {
      try {
        const session = await retryForever(() => this.#connect(), {
          pauseMs: (failures) => pickPause(failures + 1),
          signal,
        })
        this.#complained = false
        const why = await session.closed
        this.#options.address.moveOn?.()
        if (!this.#isEnding()) this.#options.log.warn({ why }, 'the link to the coordinator closed')
      } catch (error) {
        if (!this.#isEnding()) throw error
      }
      this.#session = null
      await pauseFor(pickPause(1), signal)
    }
  }

  #isEnding(): boolean {
    return this.#ending.signal.aborted
  }

  async #connect(): Promise<Session> {
    const { log, limitDials } = this.#options
    const { signal } = this.#ending
    try {
      const dial = async (): Promise<Session> => {
        const session = new Session(
          await dialCoordinator({ ...this.#options, isKeyNew: this.#isKeyNew, signal }),
          this.#options,
        )
        this.#session = session
        // After enrolment a coordinator may know the key, whatever happens to this session.
        this.#isKeyNew = false
        if (this.#isEnding()) session.end(1001, 'the agent stops')
        await session.greet()
        return session
      }
      const session = await (limitDials ? limitDials(dial) : dial())
      log.info('linked to the coordinator')
      return session
    } catch (error) {
      await this.#complain(error)
      this.#options.address.moveOn?.()
      throw new Error('no link to the coordinator', { cause: error })
    }
  }

  async #complain(error: unknown): Promise<void> {
    if (this.#isEnding()) return
    const { address, log } = this.#options
    // Once per outage, because it opens a connection.
    const mistake = this.#complained ? undefined : await explainFailure(address, error)
    const why = mistake ?? (error instanceof Error ? error.message : String(error))
    const refused = error instanceof DialRefused && error.status === 401
    const text = refused ? 'the coordinator refuses this agent' : 'the coordinator is not reached'
    log[this.#complained ? 'debug' : 'warn']({ why }, `${text}; trying on`)
    this.#complained = true
  }
}

/** One connection, from hello to close. */
class Session {
  readonly #socket: WebSocket
  readonly #options: LinkOptions
  #sent = 0
  #received = 0
  #welcomed = false
  #receivedAtMs = performance.now()
  #heartbeat: Loop | null = null
  #resolveWelcomed: () => void = () => undefined
  /** Messages are passed on one after the other, the first one after the welcome was processed. */
  #tail: Promise<void> = Promise.resolve()
  /** Resolves with the reason, as text. */
  readonly closed: Promise<string>

  constructor(socket: WebSocket, options: LinkOptions) {
    this.#socket = socket
    this.#options = options
    this.closed = new Promise((resolve) => {
      let why = ''
      socket.on('error', (error) => (why = error.message))
      socket.on('close', (code, reason) => {
        void this.#heartbeat?.close()
        resolve(why || `${reason.toString() || 'closed'} (${code})`)
      })
    })
    socket.on('message', (data) => {
      this.#receive(data)
    })
    socket.on('pong', () => (this.#receivedAtMs = performance.now()))
  }

  get isLive(): boolean {
    return this.#welcomed && this.#socket.readyState === this.#socket.OPEN
  }

  get isBehind(): boolean {
    return this.#socket.bufferedAmount > behindBytes
  }

  /** Sends hello; resolves when the welcome was processed. */
  async greet(): Promise<void> {
    const welcomed = new Promise<void>((resolve) => (this.#resolveWelcomed = resolve))
    const late = setTimeout(() => {
      this.end(1002, `no welcome within ${welcomeTimeoutMs} ms`)
    }, welcomeTimeoutMs)
    this.send({ kind: 'hello', traceId: newTraceId(), ...this.#options.describe() })
    const why = await Promise.race([welcomed, this.closed])
    clearTimeout(late)
    if (typeof why === 'string') throw new Error(why)
  }

  send(message: Unsent): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) return false
    if (this.#socket.bufferedAmount > unsentLimitBytes) {
      this.#socket.terminate()
      return false
    }
    const text = encodeMessage({ ...message, sequence: this.#sent + 1 })
    this.#sent += 1
    this.#socket.send(text)
    return true
  }

  sendHeartbeat(): void {
    if (!this.isLive) return
    this.send({ kind: 'heartbeat', traceId: newTraceId(), condition: this.#options.condition() })
  }

  /** Closes with a close frame; a peer that does not answer it is disconnected. */
  end(code: number, reason: string): void {
    this.#socket.close(code, reason.slice(0, 120))
    setTimeout(() => {
      this.#socket.terminate()
    }, 1000).unref()
  }

  #receive(data: RawData): void {
    this.#receivedAtMs = performance.now()
    let message: CoordinatorToAgent
    try {
      // One Buffer by default in ws; maxPayload limits its size.
      message = decodeCoordinatorMessage(Buffer.isBuffer(data) ? data.toString('utf8') : '')
    } catch (error) {
      this.end(1002, error instanceof Error ? error.message : 'malformed message')
      return
    }
    this.#received += 1
    if (message.sequence !== this.#received) {
      this.end(1002, `message ${this.#received} is missing, ${message.sequence} came`)
      return
    }
    this.#tail = this.#tail.then(() => this.#handOn(message))
  }

  async #handOn(message: CoordinatorToAgent): Promise<void> {
    const context = createContext(this.#options.log, message.traceId)
    if (message.kind !== 'welcome') {
      if (this.#welcomed) this.#options.receive(message, context)
      else this.end(1002, `${message.kind} came before welcome`)
      return
    }
    try {
      await this.#options.welcome(message, context)
    } catch (error) {
      context.log.error({ err: error }, 'the welcome could not be dealt with')
      this.end(1011, 'the welcome could not be dealt with')
      return
    }
    this.#welcomed = true
    this.#resolveWelcomed()
    this.#beat(message.heartbeatMs)
  }

  #beat(everyMs: number): void {
    if (!this.isLive) return
    this.#heartbeat = startLoop({
      log: this.#options.log,
      trouble: 'no heartbeat can be sent',
      everyMs,
      jitter: 0.1,
      pass: () => {
        const silentMs = performance.now() - this.#receivedAtMs
        if (silentMs > Math.max(3 * everyMs, shortestSilenceMs)) this.#socket.terminate()
        else
          sendTogether(this.#socket, () => {
            this.sendHeartbeat()
            if (silentMs > Math.min(pingAfter.heartbeats * everyMs, pingAfter.ms))
              this.#socket.ping()
          })
      },
    })
  }
}

/** Full jitter (docs/behaviour.md, Agent link): a random pause between 0.5 s and a limit that doubles from 2 s to 8 s. */
function pickPause(attempt: number): number {
  return pickBetween(shortestPauseMs, pauseAfter(attempt, retries))
}
