/** Times as people read them in tables and objects; JSON and CSV keep what the API answered. */

/** How the API calls its times: ISO 8601 texts, or seconds since 1970. */
const timeField = /(?:^|\.)(?:at|created|updated|last[A-Z]\w*|\w+At|expires?|\w+Expire)$/
const isoForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Milliseconds since 1970; null for what is not a time. `field` distinguishes a time from a name that looks like one. */
export function readTime(field: string, value: unknown): number | null {
  if (!timeField.test(field)) return null
  if (typeof value === 'number') return Number.isInteger(value) ? value * 1000 : null
  return typeof value === 'string' && isoForm.test(value) ? Date.parse(value) : null
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
/** Further away than this a date is shown. */
const relativeUpToMs = 60 * day

/** `5 min ago`, `in 3 d`, or a date; a second either way is clocks that differ. */
export function describeAge(atMs: number, nowMs: number): string {
  const distanceMs = Math.abs(nowMs - atMs)
  if (distanceMs > relativeUpToMs) return printTime(atMs).slice(0, 10)
  if (distanceMs < second) return 'now'
  const text = describeDuration(distanceMs)
  return nowMs > atMs ? `${text} ago` : `in ${text}`
}

/** `2026-11-20 16:33:13 UTC (5 min ago)`. */
export function describeTime(atMs: number, nowMs: number): string {
  const age = describeAge(atMs, nowMs)
  const isDate = printTime(atMs).startsWith(age)
  return isDate ? `${printTime(atMs)} UTC` : `${printTime(atMs)} UTC (${age})`
}

/** In its largest whole unit. */
function describeDuration(durationMs: number): string {
  const units = [
    [day, 'd'],
    [hour, 'h'],
    [minute, 'min'],
  ] as const
  const [size, name] = units.find(([unitMs]) => durationMs >= unitMs) ?? [second, 's']
  return `${Math.floor(durationMs / size)} ${name}`
}

/** In UTC, without saying so. Out of the range of dates: the number itself. */
export function printTime(atMs: number): string {
  const date = new Date(atMs)
  if (Number.isNaN(date.getTime())) return String(atMs)
  return date.toISOString().slice(0, -5).replace('T', ' ')
}
