/**
 * Live log of this cache for readers of the coordinator: each stream lasts as long as it is renewed and has a limit of lines per
 * second; lines over it are counted.
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
import { SendBudget, type Spent } from './send-budget.js'
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
  /** Returns false if the message was not sent; it will not be sent later. */
  readonly send: (message: Unsent<LogLines> | Unsent<LogEnded>) => boolean
  readonly log: Logger
}

const linesPerMessage = 250
/** A hint between coordinators has at most 512 KiB. */
const bytesPerMessage = 400_000

export class LogStreams {
  readonly #options: LogStreamsOptions
  readonly #open = new Map<string, LogStream>()
  readonly #budget = new SendBudget(() => this.#open.size)

  constructor(options: LogStreamsOptions) {
    this.#options = options
  }

  /** Begins, renews or, with 0 ms, ends a stream. */
  take({ stream, forMs, wanted }: Pick<LogOrder, 'stream' | 'forMs' | 'wanted'>): void {
    const known = this.#open.get(stream)
    if (known) known.renew(forMs, wanted.linesPerSecond)
    else if (forMs > 0) void this.#begin(stream, forMs, wanted) // catches all
  }

  stop(): void {
    for (const stream of this.#open.values()) stream.close()
  }

  async #begin(name: string, forMs: number, wanted: WantedLog): Promise<void> {
    const { groups, log } = this.#options
    const options = { ...this.#options, budget: this.#budget }
    const stream = new LogStream(options, name, wanted, () => this.#open.delete(name))
    this.#open.set(name, stream)
    stream.renew(forMs, wanted.linesPerSecond)
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

interface LogStreamOptions extends LogStreamsOptions {
  readonly budget: SendBudget
}

class LogStream {
  readonly #options: LogStreamOptions
  readonly #name: string
  readonly #wanted: WantedLog
  readonly #forget: () => void
  readonly #reader: LineReader
  #lease: NodeJS.Timeout | undefined
  #flushing: NodeJS.Timeout | undefined
  #leave: (() => Promise<void>) | null = null
  #linesPerSecond: number
  #waiting: { readonly transaction: GroupedTransaction; readonly bytes: number }[] = []
  #dropped = 0
  #spent: Spent | null = null
  #isClosed = false

  constructor(options: LogStreamOptions, name: string, wanted: WantedLog, forget: () => void) {
    this.#options = options
    this.#name = name
    this.#wanted = wanted
    this.#linesPerSecond = wanted.linesPerSecond
    this.#forget = forget
    const { groups, masking } = options
    const reading: LineReaderOptions = {
      masking: { ...masking, masksClients: wanted.masksClients },
      groupOf: (host) => groups.groupOf(host),
      isWanted: (group) => isWanted(wanted, group),
      hasRoom: () => this.#hasRoom(0),
      take: (transaction) => {
        this.#take(transaction)
      },
      drop: () => {
        this.#drop(1)
      },
    }
    this.#reader = wanted.withRecords
      ? new RecordReader(reading, () => ownNames(wanted, groups))
      : new TransactionReader(reading)
  }

  /** The number of lines per stream changes as readers come and go. */
  renew(forMs: number, linesPerSecond: number): void {
    clearTimeout(this.#lease)
    this.#linesPerSecond = linesPerSecond
    void this.#options.groups.refresh().catch(() => undefined) // keeps the earlier groups
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
    const bytes = Buffer.byteLength(JSON.stringify(transaction))
    if (!this.#hasRoom(bytes)) {
      this.#drop(1)
      return
    }
    this.#options.budget.spend(this.#readSpent(), bytes)
    this.#waiting.push({ transaction, bytes })
    this.#flushSoon()
  }

  #hasRoom(bytes: number): boolean {
    const spent = this.#readSpent()
    return spent.lines < this.#linesPerSecond && this.#options.budget.hasRoom(spent, bytes)
  }

  #readSpent(): Spent {
    return (this.#spent = this.#options.budget.spentBy(this.#spent))
  }

  /** The number is sent with the next lines. */
  #drop(count: number): void {
    this.#dropped += count
    this.#flushSoon()
  }

  #flushSoon(): void {
    if (this.#isClosed) return
    this.#flushing ??= setTimeout(() => {
      this.#flushing = undefined
      this.#flush()
    }, this.#options.budget.flushEveryMs)
  }

  #flush(): void {
    let [some, size]: [GroupedTransaction[], number] = [[], 0]
    for (const { transaction, bytes } of this.#waiting.splice(0)) {
      const isFull = some.length === linesPerMessage || size + bytes > bytesPerMessage
      if (isFull && some.length > 0) {
        this.#send(some)
        ;[some, size] = [[], 0]
      }
      some.push(transaction)
      size += bytes
    }
    if (some.length > 0 || this.#dropped > 0) this.#send(some)
  }

  /** Lines that the link does not take are dropped: the newest lines are worth more. */
  #send(transactions: readonly GroupedTransaction[]): void {
    const dropped = this.#dropped
    this.#dropped = 0
    const message = { transactions, dropped, stream: this.#name }
    const isSent = this.#options.send({ kind: 'logLines', traceId: newTraceId(), ...message })
    if (!isSent) this.#drop(dropped + transactions.length)
  }
}
