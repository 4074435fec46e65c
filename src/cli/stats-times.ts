/** `--from` and `--to`: a duration before now, seconds since 1970, or a date and time in this host's time zone. */
import { usageError } from './cli-error.js'
import { textFlag, type Invocation } from './verb.js'

export interface TimeRange {
  readonly startSeconds: number
  readonly endSeconds: number
}

const unitSeconds: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
}

/** Throws CliError for an invalid time. The API checks the range. */
export function readTimeRange(invocation: Invocation): TimeRange {
  const nowSeconds = Math.floor(invocation.system.now() / 1000)
  return {
    startSeconds: readTime('--from', textFlag(invocation, 'from') ?? '1h', nowSeconds),
    endSeconds: readTime('--to', textFlag(invocation, 'to') ?? 'now', nowSeconds),
  }
}

function readTime(flag: string, text: string, nowSeconds: number): number {
  if (text === 'now') return nowSeconds
  const [, ago, unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? []
  if (ago !== undefined) return Math.max(0, nowSeconds - Number(ago) * (unitSeconds[unit] ?? 0))
  if (/^\d{1,12}$/.test(text)) return Number(text)
  const parsed = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isFinite(parsed)) return Math.max(0, Math.floor(parsed / 1000))
  throw usageError(
    `${flag} ${JSON.stringify(text)} is not a time; expected 30m, 12h, 7d, now, seconds since 1970 or 2026-01-31T12:00`,
  )
}
