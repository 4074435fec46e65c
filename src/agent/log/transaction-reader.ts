/** From lines of the log tool to transactions: each request with the backend of its last fetch, of the groups that are wanted. */
import {
  parseLogLine,
  toTransaction,
  type LogLine,
  type Transaction,
} from '../../traffic/log-line.js'
import type { LoggedPart } from '../../resources/logged-transaction.js'
import type { Masking } from '../../traffic/masking.js'
import type { ServedGroup } from './served-groups.js'

export interface GroupedTransaction extends Transaction {
  /** Null: of no group. */
  readonly groupId: number | null
  readonly parts?: readonly LoggedPart[]
  readonly recordsLeftOut?: number
}

export interface LineReader {
  read(line: string): void
  stop(): void
}

export interface LineReaderOptions {
  readonly masking: Masking
  readonly groupOf: (host: string) => ServedGroup | null
  readonly isWanted: (group: ServedGroup | null) => boolean
  readonly take: (transaction: GroupedTransaction) => void
  /** A line that is none of the format. */
  readonly drop: () => void
}

/** The lines of a request's fetches come with its own: the tool writes them together, unless its buffer is full in between. */
const togetherMs = 100

export class TransactionReader implements LineReader {
  readonly #options: LineReaderOptions
  #request: LogLine | null = null
  #backend = '-'
  #timer: NodeJS.Timeout | undefined

  constructor(options: LineReaderOptions) {
    this.#options = options
  }

  read(text: string): void {
    const line = parseLogLine(text)
    if (line === null) this.#options.drop()
    else if (line.side === 'c') {
      // A part of a page may stand before the fetch of that page.
      if (line.reason === 'esi') return
      this.flush()
      this.#request = line
      this.#timer ??= setTimeout(() => {
        this.flush()
      }, togetherMs)
      this.#timer.refresh()
    } else if (line.parent === this.#request?.vxid) this.#backend = line.backend
  }

  flush(): void {
    const line = this.#request
    if (line === null) return
    const { masking, groupOf, isWanted, take, drop } = this.#options
    const transaction = toTransaction(line, this.#backend, masking)
    this.#request = null
    this.#backend = '-'
    if (transaction === null) {
      drop()
      return
    }
    const group = groupOf(transaction.host)
    if (isWanted(group)) take({ ...transaction, groupId: group?.groupId ?? null })
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
