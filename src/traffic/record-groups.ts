/**
 * Whole records of requests, as the cache's log tool prints them grouped by request (`varnishlog -g request`): a head for each part
 * (`*   << Request  >> 2`), its records (`-   ReqURL         /a`), and an empty line behind the last. VCL writes into the log, too:
 * the tool leaves out records with a line feed, which could pass for others (`-X`).
 */
import type { LoggedPart, LogRecord } from '../resources/logged-transaction.js'

export interface RecordGroup {
  readonly parts: readonly LoggedPart[]
  /** Records beyond the bound. */
  readonly leftOut: number
}

/** Of one request: what is more is counted. */
const recordsMost = 1_000
const partsMost = 200
const charactersMost = 128 * 1024

interface OpenPart extends LoggedPart {
  readonly records: LogRecord[]
}

export class RecordGroups {
  readonly #onGroup: (group: RecordGroup) => void
  #parts: OpenPart[] = []
  /** Null: it is of no part that is kept. */
  #current: OpenPart | null = null
  #records = 0
  #characters = 0
  #leftOut = 0

  constructor(onGroup: (group: RecordGroup) => void) {
    this.#onGroup = onGroup
  }

  /** What is none of these lines is passed over. */
  read(line: string): void {
    if (line === '') this.#end()
    else if (line.startsWith('*')) this.#begin(line)
    else this.#add(line)
  }

  #begin(line: string): void {
    const [, word = '', xid] = /^\*[*\d]* *<< (\w+) +>> (\d{1,15})/.exec(line) ?? []
    const kind = ({ Request: 'request', BeReq: 'fetch' } as const)[word]
    this.#current =
      kind === undefined || this.#parts.length === partsMost
        ? null
        : { kind, xid: Number(xid), parentXid: 0, reason: '', records: [] }
    if (this.#current) this.#parts.push(this.#current)
  }

  #add(line: string): void {
    const [, tag, text = ''] = /^-[-\d]* *([A-Za-z_]+) *(.*)$/s.exec(line) ?? []
    if (tag === undefined) return
    this.#records += 1
    this.#characters += text.length
    const isOver = this.#records > recordsMost || this.#characters > charactersMost
    if (this.#current === null || isOver) this.#leftOut += 1
    else this.#current.records.push({ tag, text: decodeBytes(text) })
  }

  #end(): void {
    const group = { parts: this.#parts.map(readBegin), leftOut: this.#leftOut }
    this.#parts = []
    this.#current = null
    this.#records = 0
    this.#characters = 0
    this.#leftOut = 0
    if (group.parts.length > 0) this.#onGroup(group)
  }
}

/** `req 32770 restart`: what it was made for, and why. */
function readBegin(part: LoggedPart): LoggedPart {
  const [, parent, reason = ''] = findText(part, 'Begin')?.split(' ') ?? []
  return { ...part, parentXid: Number(parent) || 0, reason }
}

/** Lines are read byte by byte. What is not UTF-8 is told as `\xHH`. */
function decodeBytes(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return text
  const decoded = Buffer.from(text, 'latin1').toString('utf8')
  if (!decoded.includes('\ufffd')) return decoded
  return text.replace(/[\x80-\xff]/g, (one) => `\\x${one.charCodeAt(0).toString(16)}`)
}

/** Of the first record with this tag: the whole text, or a field, counted from 0. */
export function findText({ records }: LoggedPart, tag: string, field?: number): string | undefined {
  const text = records.find((one) => one.tag === tag)?.text
  return field === undefined ? text : text?.split(' ')[field]
}
