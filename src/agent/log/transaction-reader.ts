/** Converts lines of the log tool to transactions of the wanted groups: each request with the backend of its last fetch. */
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
  /** True when the next transaction would be taken; otherwise it is dropped before further work. */
  readonly hasRoom: () => boolean
  readonly take: (transaction: GroupedTransaction) => void
  /** Called for a line of another format, or one over the limit. */
  readonly drop: () => void
}

/** The tool prints a request's own line and those of its fetches together, unless its buffer fills up in between. */
const togetherMs = 100

/** All readers of one tool get the same line, one after the other. */
const parse = rememberLast(parseLogLine)

export class TransactionReader implements LineReader {
  readonly #options: LineReaderOptions
  #request: LogLine | null = null
  #backend = '-'
  #timer: NodeJS.Timeout | undefined

  constructor(options: LineReaderOptions) {
    this.#options = options
  }

  read(text: string): void {
    const line = parse(text)
    if (line === null) this.#options.drop()
    else if (line.side === 'c') {
      // A part of a page may precede the fetch of that page.
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
    const { masking, groupOf, isWanted, hasRoom, take, drop } = this.#options
    const backend = this.#backend
    this.#request = null
    this.#backend = '-'
    const group = groupOf(line.host)
    if (!isWanted(group)) return
    const transaction = hasRoom() ? toTransaction(line, backend, masking) : null
    if (transaction === null) drop()
    else take({ ...transaction, groupId: group?.groupId ?? null })
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

function rememberLast<Value>(make: (text: string) => Value): (text: string) => Value {
  let last: { readonly text: string; readonly value: Value } | undefined
  return (text) => {
    if (last?.text !== text) last = { text, value: make(text) }
    return last.value
  }
}
