/**
 * Parses whole records of requests, as the cache's log tool prints them by request (`varnishlog -g request`): a header for each part
 * (`*   << Request  >> 2`), its records (`-   ReqURL         /a`), and an empty line after the last. VCL can write to the log, too:
 * the tool omits records with a line feed, which could pass for other records (`-X`).
 */
import type { LoggedPart, LogRecord } from '../resources/logged-transaction.js'

export interface RecordGroup {
  readonly parts: readonly LoggedPart[]
  /** Number of records beyond the limits. */
  readonly leftOut: number
}

/** Limits of one request; further records are only counted. */
const maxRecords = 1_000
const maxParts = 200
const maxCharacters = 128 * 1024

interface OpenPart extends LoggedPart {
  readonly records: LogRecord[]
}

export class RecordGroups {
  readonly #onGroup: (group: RecordGroup) => void
  #parts: OpenPart[] = []
  /** Null: records that follow belong to no kept part. */
  #current: OpenPart | null = null
  #records = 0
  #characters = 0
  #leftOut = 0

  constructor(onGroup: (group: RecordGroup) => void) {
    this.#onGroup = onGroup
  }

  /** Ignores lines of any other form. */
  read(line: string): void {
    if (line === '') this.#end()
    else if (line.startsWith('*')) this.#begin(line)
    else this.#add(line)
  }

  #begin(line: string): void {
    const [, word = '', xid] = /^\*[*\d]* *<< (\w+) +>> (\d{1,15})/.exec(line) ?? []
    const kind = ({ Request: 'request', BeReq: 'fetch' } as const)[word]
    this.#current =
      kind === undefined || this.#parts.length === maxParts
        ? null
        : { kind, xid: Number(xid), parentXid: 0, reason: '', records: [] }
    if (this.#current) this.#parts.push(this.#current)
  }

  #add(line: string): void {
    const [, tag, text = ''] = /^-[-\d]* *([A-Za-z_]+) *(.*)$/s.exec(line) ?? []
    if (tag === undefined) return
    this.#records += 1
    this.#characters += text.length
    const isOver = this.#records > maxRecords || this.#characters > maxCharacters
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

/** Reads such as `req 32770 restart`: the part that caused it, and why. */
function readBegin(part: LoggedPart): LoggedPart {
  const [, parent, reason = ''] = findText(part, 'Begin')?.split(' ') ?? []
  return { ...part, parentXid: Number(parent) || 0, reason }
}

/** Lines have one character per byte. In a text that is not UTF-8, high bytes are shown as `\xHH`. */
function decodeBytes(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return text
  const decoded = Buffer.from(text, 'latin1').toString('utf8')
  if (!decoded.includes('\ufffd')) return decoded
  return text.replace(/[\x80-\xff]/g, (one) => `\\x${one.charCodeAt(0).toString(16)}`)
}

/** Returns the text of the first record with this tag, or one field of it, counted from 0. */
export function findText({ records }: LoggedPart, tag: string, field?: number): string | undefined {
  const text = records.find((one) => one.tag === tag)?.text
  return field === undefined ? text : text?.split(' ')[field]
}
