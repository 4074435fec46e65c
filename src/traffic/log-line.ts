/**
 * Parses the lines of the cache's own log tool, one per transaction: `-F` with tab-separated fields. Every release since 6.0 escapes
 * quotes, backslashes, control and high bytes sent by clients as `\"`, `\\`, `\t`, `\n`, `\xHH`, so that a tab or a line feed
 * always belongs to the format (measured; `-j` writes raw bytes).
 */
import { handlings, type Handling } from '../resources/logged-transaction.js'
import { maskClient, maskUrl, type Masking } from './masking.js'

/** Fields of a request; `b` lines are its fetches, which the tool prints after it (`-b -c -g request`). */
const fieldFormats = {
  side: '%{Varnish:side}x',
  vxid: '%{Varnish:vxid}x',
  /** For a fetch: the request that caused it. */
  parent: '%{VSL:Begin[2]}x',
  /** Why it was made; `esi`: for a part of a page. */
  reason: '%{VSL:Begin[3]}x',
  startedAtSeconds: '%{VSL:Timestamp:Start[1]}x',
  method: '%m',
  url: '%{VSL:ReqURL}x',
  /** As the client sent it; VCL may change it later. */
  host: '%{VSL:ReqHeader:Host}x',
  status: '%s',
  bytes: '%O',
  firstByteSeconds: '%{Varnish:time_firstbyte}x',
  durationUs: '%D',
  handling: '%{Varnish:handling}x',
  backend: '%{VSL:BackendOpen[2]}x',
  client: '%h',
} as const
type LineField = keyof typeof fieldFormats
export type LogLine = Readonly<Record<LineField, string>>

const lineFields = Object.keys(fieldFormats) as readonly LineField[] // its own keys
export const lineFormat = lineFields.map((name) => fieldFormats[name]).join('\\t')

/** Null if it is not a line of this format. */
export function parseLogLine(text: string): LogLine | null {
  const parts = text.split('\t')
  if (parts.length !== lineFields.length) return null
  const texts = parts.map(decodeField)
  return Object.fromEntries(lineFields.map((name, at) => [name, texts[at] ?? ''])) as LogLine
}

const escapes: Readonly<Record<string, string>> = {
  t: '\t',
  n: '\n',
  r: '\r',
  v: '\v',
  f: '\f',
  b: '\b',
  a: '\x07',
  0: '\0',
}

/** Returns what the client sent; bytes that are not UTF-8 stay escaped as `\xHH`. */
export function decodeField(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(/(?:\\x[0-9a-f]{2})+|\\(.)/gi, (whole, one: string | undefined) => {
    if (one !== undefined) return escapes[one] ?? one
    const bytes = Buffer.from(whole.replaceAll(/\\x/gi, ''), 'hex')
    const decoded = bytes.toString('utf8')
    return decoded.includes('\ufffd') ? whole : decoded
  })
}

export interface Transaction {
  /** Epoch milliseconds of the host's clock. */
  readonly at: number
  readonly method: string
  readonly url: string
  readonly host: string
  readonly status: number
  readonly bytes: number
  /** Null: nothing was sent. */
  readonly ttfbMs: number | null
  readonly durationMs: number | null
  readonly handling: Handling
  /** `-`: no backend was used. */
  readonly backend: string
  readonly xid: number
  readonly client: string
}

/** Longer texts are cut, to limit the size of messages. */
export const logTextLimitCharacters = 2048

/** Null if a number is malformed, as in a transaction that the tool saw only partly. `backend`: of its last fetch. */
export function toTransaction(
  line: LogLine,
  backend: string,
  masking: Masking,
): Transaction | null {
  const at = Math.round(Number(line.startedAtSeconds) * 1000)
  const [status, xid] = [Number(line.status), Number(line.vxid)]
  if (!Number.isSafeInteger(at) || !Number.isSafeInteger(status) || !Number.isSafeInteger(xid))
    return null
  return {
    at,
    method: toText(line.method),
    url: maskUrl(toText(line.url), masking),
    host: toText(line.host),
    status,
    bytes: toCount(line.bytes) ?? 0,
    ttfbMs: toMs(line.firstByteSeconds, 1000),
    durationMs: toMs(line.durationUs, 0.001),
    handling: toHandling(line.handling),
    backend: toText(backend),
    xid,
    client: maskClient(toText(line.client), masking),
  }
}

/** 7.x reports hit-for-miss and hit-for-pass separately; 6.0 reports synthetic responses as `error`. */
export function toHandling(word: string): Handling {
  if (word === 'hitmiss') return 'miss'
  if (word === 'hitpass') return 'pass'
  return handlings.find((one) => one === word) ?? (word === 'streaming-hit' ? 'hit' : 'synth')
}

function toText(field: string): string {
  return field.slice(0, logTextLimitCharacters)
}

function toCount(field: string): number | null {
  const value = Number(field)
  return field !== '' && Number.isFinite(value) && value >= 0 ? value : null
}

/** Rounds to a hundredth of a millisecond. */
function toMs(field: string, factor: number): number | null {
  const value = toCount(field)
  return value === null ? null : Math.round(value * factor * 100) / 100
}
