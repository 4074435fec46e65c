/** Converts a typed time to the API's seconds since 1970. */
import { usageError } from './cli-error.js'

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }
/** A date with a time names its zone; a date alone starts at midnight UTC. */
const dateForm = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/

/** Accepts `90d` from now, `2027-01-31`, `2027-01-31T12:00Z` or `1801396800`. Throws CliError. */
export function readMoment(flag: string, text: string, nowMs: number): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const stepSeconds = unit === undefined ? undefined : unitSeconds[unit]
  if (stepSeconds !== undefined) return Math.floor(nowMs / 1000) + Number(count) * stepSeconds
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const atMs = dateForm.test(text) ? Date.parse(text) : NaN
  if (!Number.isNaN(atMs)) return Math.floor(atMs / 1000)
  throw usageError(
    `--${flag} is ${JSON.stringify(text)}; expected a time from now like 12h or 90d, a date like 2027-01-31, or seconds since 1970`,
  )
}
