/**
 * The bus over NATS, for several coordinators. Messages within this process use the in-process bus, so an unreachable server
 * separates coordinators from each other, but not from themselves. Messages that cannot be sent are dropped: hints may be lost,
 * and polling the store makes up for them.
 */
import { randomUUID } from 'node:crypto'
import {
  connect,
  RequestError,
  TimeoutError,
  type Msg,
  type NatsConnection,
  type Subscription as NatsSubscription,
} from '@nats-io/transport-node'
import type { Logger } from 'pino'
import { FleetError, type ErrorKey, type ErrorKind } from '../../errors.js'
import {
  hasBytes,
  requireFitting,
  uncheckedSubject,
  type Bus,
  type HintSubject,
  type RequestSubject,
} from './bus.js'
import { createInProcessBus } from './in-process.js'
import { fetchChunks, ChunkStore, type ChunkReference } from './nats-chunks.js'
import { readServers } from './nats-servers.js'
import { Waiting } from './waiting.js'
import { waitAtMost } from '../../runtime/pause.js'

/** The limit for the first connection, and for one chunk of a large value. */
const connectTimeoutMs = 10_000
const partTimeoutMs = 10_000
/** A server that is silent for two intervals is considered lost. */
const pingMs = 5_000
const reconnectMs = 500
/** Larger values are sent in chunks of this size; the server's own limit may be lower. */
const messageLimitBytes = 512 << 10
/** Room for the envelope of a part. */
const overheadBytes = 1024
/** Longer than any caller waits. */
const answerTimeoutMs = 600_000
const lastWordsMs = 1_000

/** Content of a message: a value, a reference to a value, or an error. */
interface Envelope {
  readonly value?: unknown
  readonly chunks?: ChunkReference
  /** Bytes of the value, always sent in chunks. */
  readonly bytes?: ChunkReference
  readonly refusal?: Refusal
  /** The responder failed; its log has the reason. */
  readonly isBug?: boolean
}

interface Refusal {
  readonly kind: ErrorKind
  readonly errorKey: ErrorKey
  readonly message: string
  readonly retryAfterSeconds?: number | undefined
}

/** Throws FleetError 'unavailable' if no server is reached, without the URLs, which may contain a password. */
export async function connectNatsBus(
  urls: readonly string[],
  fleet: string,
  log: Logger,
): Promise<Bus> {
  const options = {
    ...readServers(urls),
    name: 'cachefleet',
    noEcho: true,
    timeout: connectTimeoutMs,
    pingInterval: pingMs,
    maxPingOut: 2,
    maxReconnectAttempts: -1,
    reconnectTimeWait: reconnectMs,
    ignoreAuthErrorAbort: true,
  }
  const connection = await connect(options).catch((error: unknown) => {
    throw new FleetError('unavailable', 'store', `the bus does not answer: ${reasonOf(error)}`)
  })
  return new NatsBus(connection, `cachefleet.${fleet}`, log)
}

class NatsBus implements Bus {
  readonly isShared = true
  readonly #connection: NatsConnection
  readonly #prefix: string
  readonly #log: Logger
  readonly #local = createInProcessBus()
  readonly #chunks: ChunkStore
  /** Remote subscriptions of locally subscribed subjects, with their number of listeners. */
  readonly #subscribed = new Map<string, { readonly remote: NatsSubscription; listeners: number }>()
  readonly #answered = new Set<string>()
  readonly #waiting = new Waiting()
  #isConnected = true
  #isClosed = false

  constructor(connection: NatsConnection, prefix: string, log: Logger) {
    this.#connection = connection
    this.#prefix = prefix
    this.#log = log
    const subject = `chunks.${randomUUID()}`
    this.#chunks = new ChunkStore(subject)
    this.#listen(subject, (message) => {
      if (this.#isConnected) message.respond(this.#chunks.give(message.string()))
    })
    void this.#followStatus() // never rejects
  }

  publish<Value>(subject: HintSubject<Value>, value: Value): void {
    this.#local.publish(subject, value)
    if (!this.#isConnected) return
    const text = toText({ value })
    const sizeBytes = Buffer.byteLength(text)
    const { name } = subject
    if (sizeBytes <= this.#payloadLimitBytes) this.#connection.publish(this.#remote(name), text)
    else
      this.#log.error(
        { subject: name, sizeBytes },
        'a hint is too large for the bus and was dropped',
      )
  }

  subscribe<Value>(subject: HintSubject<Value>, receive: (value: Value) => void) {
    const { name } = subject
    const subscription = this.#local.subscribe(subject, receive)
    const known = this.#subscribed.get(name)
    if (known) known.listeners += 1
    else this.#subscribed.set(name, { remote: this.#subscribeRemote(name), listeners: 1 })
    return {
      close: once(() => {
        subscription.close()
        this.#unhear(name)
      }),
    }
  }

  respond<Asked, Answer>(
    subject: RequestSubject<Asked, Answer>,
    answer: (asked: Asked) => Promise<Answer>,
  ) {
    const { name } = subject
    const subscription = this.#local.respond(subject, answer)
    this.#answered.add(name)
    const remote = this.#listen(name, (message) => {
      void this.#answer(name, message) // never rejects
    })
    return {
      close: once(() => {
        subscription.close()
        this.#answered.delete(name)
        if (!this.#isClosed) remote.unsubscribe()
      }),
    }
  }

  async request<Asked, Answer>(
    subject: RequestSubject<Asked, Answer>,
    asked: Asked,
    timeoutMs: number,
  ): Promise<Answer> {
    const { name, isAnswer } = subject
    if (this.#answered.has(name)) return this.#local.request(subject, asked, timeoutMs)
    this.#requireConnected()
    const answer = await this.#waiting.waitFor(this.#ask(name, asked, timeoutMs), timeoutMs)
    return requireFitting(isAnswer, answer)
  }

  async check(): Promise<void> {
    this.#requireConnected()
    await this.#waiting.waitFor(this.#connection.flush(), connectTimeoutMs)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    const isConnected = this.#isConnected
    this.#isClosed = true
    this.#isConnected = false
    this.#waiting.endAll(closedError())
    this.#chunks.clear()
    await this.#local.close()
    // Flushes the last published messages.
    if (isConnected) await waitAtMost(lastWordsMs, this.#connection.flush().catch(ignore), ignore)
    await this.#connection.close()
  }

  async #ask(subject: string, value: unknown, timeoutMs: number): Promise<unknown> {
    const answer = await this.#connection
      .request(this.#remote(subject), this.#wrap(value), { timeout: timeoutMs })
      .catch((error: unknown) => {
        throw explain(error, timeoutMs)
      })
    return this.#unwrap(subject, answer)
  }

  async #answer(subject: string, message: Msg): Promise<void> {
    let answer: string
    try {
      const asked = await this.#unwrap(subject, message)
      const there = uncheckedSubject(subject)
      answer = this.#wrap(await this.#local.request(there, asked, answerTimeoutMs))
    } catch (error) {
      if (!(error instanceof FleetError))
        this.#log.error({ err: error, subject }, 'an answer on the bus failed')
      answer = toText(error instanceof FleetError ? { refusal: toRefusal(error) } : { isBug: true })
    }
    if (this.#isConnected) message.respond(answer)
  }

  #wrap(value: unknown): string {
    const limitBytes = Math.min(messageLimitBytes, this.#payloadLimitBytes)
    if (hasBytes(value)) {
      const { bytes, ...others } = value
      return toText({ value: others, bytes: this.#chunks.put(bytes, limitBytes) })
    }
    const text = toText({ value })
    const bytes = Buffer.from(text)
    return bytes.length <= limitBytes
      ? text
      : toText({ chunks: this.#chunks.put(bytes, limitBytes) })
  }

  async #unwrap(subject: string, message: Msg): Promise<unknown> {
    const envelope = message.json<Envelope>() // of a peer of the same store
    if (envelope.refusal) throw fromRefusal(envelope.refusal)
    if (envelope.isBug)
      throw new Error(`the answer on ${subject} failed in another coordinator: its log says why`)
    const reference = envelope.chunks ?? envelope.bytes
    if (!reference) return envelope.value
    const bytes = await fetchChunks(reference, async (subject, asked) => {
      const part = await this.#connection.request(this.#remote(subject), asked, {
        timeout: partTimeoutMs,
      })
      return part.data
    }).catch((error: unknown) => {
      throw explain(error, partTimeoutMs)
    })
    if (envelope.bytes) return Object.assign({}, envelope.value, { bytes })
    return (JSON.parse(bytes.toString('utf8')) as Envelope).value // as above
  }

  #subscribeRemote(subject: string): NatsSubscription {
    return this.#listen(subject, (message) => {
      this.#local.publish(uncheckedSubject(subject), message.json<Envelope>().value)
    })
  }

  #unhear(subject: string): void {
    const known = this.#subscribed.get(subject)
    if (!known) return
    known.listeners -= 1
    if (known.listeners > 0) return
    this.#subscribed.delete(subject)
    if (!this.#isClosed) known.remote.unsubscribe()
  }

  #listen(subject: string, onMessage: (message: Msg) => void): NatsSubscription {
    return this.#connection.subscribe(this.#remote(subject), {
      callback: (error, message) => {
        if (this.#isClosed) return
        if (error) this.#log.error({ err: error, subject }, 'the bus refuses a subscription')
        else onMessage(message)
      },
    })
  }

  async #followStatus(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (this.#isClosed) return
      if (type === 'disconnect') {
        this.#isConnected = false
        this.#waiting.endAll(awayError())
        this.#log.warn('the bus is away: coordinators notice changes of each other late')
      } else if (type === 'reconnect') {
        this.#isConnected = true
        this.#log.info('the bus is back')
      }
    }
  }

  #requireConnected(): void {
    if (this.#isClosed) throw closedError()
    if (!this.#isConnected) throw awayError()
  }

  get #payloadLimitBytes(): number {
    return (this.#connection.info?.max_payload ?? messageLimitBytes) - overheadBytes
  }

  #remote(subject: string): string {
    return `${this.#prefix}.${subject}`
  }
}

function toText(envelope: Envelope): string {
  return JSON.stringify(envelope)
}

function toRefusal({ kind, errorKey, message, retryAfterSeconds }: FleetError): Refusal {
  return { kind, errorKey, message, retryAfterSeconds }
}

function fromRefusal({ kind, errorKey, message, retryAfterSeconds }: Refusal): FleetError {
  const detail = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
  return new FleetError(kind, errorKey, message, detail)
}

function explain(error: unknown, timeoutMs: number): unknown {
  if (error instanceof FleetError) return error
  if (error instanceof TimeoutError)
    return new FleetError('timed-out', 'agent', `no answer within ${timeoutMs} ms`)
  if (error instanceof RequestError && error.isNoResponders())
    return new FleetError('unavailable', 'agent', 'no answer: the agent is not connected')
  return new FleetError('unavailable', 'store', `the bus does not work: ${reasonOf(error)}`)
}

function awayError(): FleetError {
  return new FleetError('unavailable', 'store', 'the bus is away', { retryAfterSeconds: 1 })
}

function closedError(): FleetError {
  return new FleetError('unavailable', 'store', 'the bus is closed: the coordinator is stopping')
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function once(work: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) work()
    isDone = true
  }
}

function ignore(): void {
  // The connection closes in any case.
}
