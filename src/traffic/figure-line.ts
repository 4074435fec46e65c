/** Parses the shortest line of the log tool with everything that figures need (log-line.ts describes how fields are separated). */
import type { Observed } from './figures.js'
import { toHandling } from './log-line.js'

const fields = [
  '%{VSL:ReqHeader:Host}x',
  '%s',
  '%{Varnish:handling}x',
  '%O',
  '%{Varnish:time_firstbyte}x',
]
export const figureFormat = fields.join('\\t')

interface FigureLine {
  /** As the client sent it. */
  readonly host: string
  readonly seen: Observed
}

/** Null if it is not a line of this format. */
export function parseFigureLine(text: string): FigureLine | null {
  const parts = text.split('\t')
  if (parts.length !== fields.length) return null
  const [host = '', statusText, handling = '', bytesText, firstByteText] = parts
  const [status, bytes] = [Number(statusText), toAmount(bytesText)]
  if (!Number.isSafeInteger(status)) return null
  const seconds = toAmount(firstByteText)
  const firstByteMs = seconds === null ? null : seconds * 1000
  return { host, seen: { status, handling: toHandling(handling), bytes: bytes ?? 0, firstByteMs } }
}

/** Null for `-` and for an empty field. */
function toAmount(field = ''): number | null {
  const value = Number(field)
  return field !== '' && Number.isFinite(value) && value >= 0 ? value : null
}
