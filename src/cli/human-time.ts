/** Formats times in tables and objects for people; JSON and CSV keep the API's values. */

/** Field names of times in the API: ISO 8601 texts, or seconds since 1970. */
const timeField = /(?:^|\.)(?:at|created|updated|last[A-Z]\w*|\w+At|expires?|\w+Expire)$/
const isoForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Returns milliseconds since 1970, or null for other values. `field` distinguishes a time from a name that looks like one. */
export function readTime(field: string, value: unknown): number | null {
  if (!timeField.test(field)) return null
  if (typeof value === 'number') return Number.isInteger(value) ? value * 1000 : null
  return typeof value === 'string' && isoForm.test(value) ? Date.parse(value) : null
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
/** Times further away are shown as dates. */
const relativeUpToMs = 60 * day

/** Returns `5 min ago`, `in 3 d`, or a date; a difference below one second counts as clock skew. */
export function describeAge(atMs: number, nowMs: number): string {
  const distanceMs = Math.abs(nowMs - atMs)
  if (distanceMs > relativeUpToMs) return printTime(atMs).slice(0, 10)
  if (distanceMs < second) return 'now'
  const text = describeDuration(distanceMs)
  return nowMs > atMs ? `${text} ago` : `in ${text}`
}

/** For example `2026-11-20 16:33:13 UTC (5 min ago)`. */
export function describeTime(atMs: number, nowMs: number): string {
  const age = describeAge(atMs, nowMs)
  const isDate = printTime(atMs).startsWith(age)
  return isDate ? `${printTime(atMs)} UTC` : `${printTime(atMs)} UTC (${age})`
}

/** The duration in its largest whole unit. */
function describeDuration(durationMs: number): string {
  const units = [
    [day, 'd'],
    [hour, 'h'],
    [minute, 'min'],
  ] as const
  const [size, name] = units.find(([unitMs]) => durationMs >= unitMs) ?? [second, 's']
  return `${Math.floor(durationMs / size)} ${name}`
}

/** UTC, without a zone suffix. Returns the number itself if it is outside the range of dates. */
export function printTime(atMs: number): string {
  const date = new Date(atMs)
  if (Number.isNaN(date.getTime())) return String(atMs)
  return date.toISOString().slice(0, -5).replace('T', ' ')
}
