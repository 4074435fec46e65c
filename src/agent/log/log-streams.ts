/**
 * Live log of this cache, for readers of the coordinator: each for as long as it renews, so many lines a second at most, and the
 * rest counted.
 */
import type { Logger } from 'pino'
import { newTraceId } from '../../context.js'
import { FleetError } from '../../errors.js'
import type { LogEnded, LogLines, LogOrder, WantedLog } from '../../messages/live-log.js'
import type { Masking } from '../../traffic/masking.js'
import type { Unsent } from '../link/coordinator-link.js'
import type { LogChildren } from './log-children.js'
import type { ServedGroups } from './served-groups.js'
import { isWanted, judgeWanted, ownNames, toRun } from './wanted-log.js'
import { RecordReader } from './record-reader.js'
import {
  TransactionReader,
  type GroupedTransaction,
  type LineReader,
  type LineReaderOptions,
} from './transaction-reader.js'

interface LogStreamsOptions {
  readonly children: LogChildren
  readonly groups: ServedGroups
  readonly masking: Omit<Masking, 'masksClients'>
  readonly send: (message: Unsent<LogLines> | Unsent<LogEnded>) => boolean
  readonly log: Logger
}

/** A transaction is with its reader half a second later at most. */
const flushEveryMs = 100
const linesPerMessage = 250
/** As JSON, in UTF-16 units: a message has 1 MiB at most, and a unit three bytes. */
const charactersPerMessage = 300_000
/** Whole records of requests are long: what is more is dropped, as lines over their limit are. */
const charactersPerSecond = 2_000_000

export class LogStreams {
  readonly #options: LogStreamsOptions
  readonly #open = new Map<string, LogStream>()

  constructor(options: LogStreamsOptions) {
    this.#options = options
  }

  /** Begins, renews or, with 0 ms, ends a stream. */
  take({ stream, forMs, wanted }: Pick<LogOrder, 'stream' | 'forMs' | 'wanted'>): void {
    const known = this.#open.get(stream)
    if (known) known.renew(forMs)
    else if (forMs > 0) void this.#begin(stream, forMs, wanted) // catches all
  }

  stop(): void {
    for (const stream of this.#open.values()) stream.close()
  }

  async #begin(name: string, forMs: number, wanted: WantedLog): Promise<void> {
    const { groups, log } = this.#options
    const stream = new LogStream(this.#options, name, wanted, () => this.#open.delete(name))
    this.#open.set(name, stream)
    stream.renew(forMs)
    try {
      judgeWanted(wanted, this.#options.masking)
      await groups.refresh()
      stream.read(this.#options.children)
    } catch (error) {
      if (!(error instanceof FleetError)) log.warn({ err: error }, 'a log stream cannot begin')
      stream.end(error instanceof Error ? error.message : String(error))
    }
  }
}

class LogStream {
  readonly #options: LogStreamsOptions
  readonly #name: string
  readonly #wanted: WantedLog
  readonly #forget: () => void
  readonly #reader: LineReader
  #lease: NodeJS.Timeout | undefined
  #flushing: NodeJS.Timeout | undefined
  #leave: (() => Promise<void>) | null = null
  #waiting: { readonly transaction: GroupedTransaction; readonly characters: number }[] = []
  #dropped = 0
  /** Of the second that began then. */
  #second = { atMs: 0, lines: 0, characters: 0 }
  #isClosed = false

  constructor(options: LogStreamsOptions, name: string, wanted: WantedLog, forget: () => void) {
    this.#options = options
    this.#name = name
    this.#wanted = wanted
    this.#forget = forget
    const { groups, masking } = options
    const reading: LineReaderOptions = {
      masking: { ...masking, masksClients: wanted.masksClients },
      groupOf: (host) => groups.groupOf(host),
      isWanted: (group) => isWanted(wanted, group),
      take: (transaction) => {
        this.#take(transaction)
      },
      drop: () => {
        this.#dropped += 1
        this.#flushSoon()
      },
    }
    this.#reader = wanted.withRecords
      ? new RecordReader(reading, () => ownNames(wanted, groups))
      : new TransactionReader(reading)
  }

  renew(forMs: number): void {
    clearTimeout(this.#lease)
    void this.#options.groups.refresh().catch(() => undefined) // as it was
    if (forMs === 0) this.close()
    else
      this.#lease = setTimeout(() => {
        this.close()
      }, forMs)
  }

  read(children: LogChildren): void {
    if (this.#isClosed) return
    this.#leave = children.read(toRun(this.#wanted, this.#options.groups), {
      onLine: (line) => {
        this.#reader.read(line)
      },
      onEnd: (why) => {
        this.end(why)
      },
    })
  }

  end(reason: string): void {
    if (this.#isClosed) return
    this.#flush()
    this.#options.send({
      kind: 'logEnded',
      traceId: newTraceId(),
      stream: this.#name,
      reason: reason.slice(0, 500),
    })
    this.close()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#lease)
    clearTimeout(this.#flushing)
    this.#reader.stop()
    void this.#leave?.()
    this.#forget()
  }

  #take(transaction: GroupedTransaction): void {
    const nowMs = performance.now()
    if (nowMs - this.#second.atMs >= 1000) this.#second = { atMs: nowMs, lines: 0, characters: 0 }
    const second = this.#second
    const isOver = second.lines >= this.#wanted.linesPerSecond
    const characters = isOver ? 0 : JSON.stringify(transaction).length
    second.lines += 1
    second.characters += characters
    if (isOver || second.characters > charactersPerSecond) this.#dropped += 1
    else this.#waiting.push({ transaction, characters })
    this.#flushSoon()
  }

  #flushSoon(): void {
    this.#flushing ??= setTimeout(() => {
      this.#flushing = undefined
      this.#flush()
    }, flushEveryMs)
  }

  #flush(): void {
    let dropped = this.#dropped
    this.#dropped = 0
    const send = (transactions: readonly GroupedTransaction[]): void => {
      const message = { transactions, dropped, stream: this.#name }
      this.#options.send({ kind: 'logLines', traceId: newTraceId(), ...message })
      dropped = 0
    }
    let [some, size]: [GroupedTransaction[], number] = [[], 0]
    for (const { transaction, characters } of this.#waiting.splice(0)) {
      const isFull = some.length === linesPerMessage || size + characters > charactersPerMessage
      if (isFull && some.length > 0) {
        send(some)
        ;[some, size] = [[], 0]
      }
      some.push(transaction)
      size += characters
    }
    if (some.length > 0 || dropped > 0) send(some)
  }
}
