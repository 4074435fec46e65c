/** Which entries of the api log are shown, and how many there are of each severity. */
import type { ApiLogEntry } from '../../../resources/api-log-entry.js'

const severities = [
  { value: '1', title: 'Info' },
  { value: '2', title: 'Warning' },
  { value: '3', title: 'Error' },
] as const

interface EntryFilter {
  /** In lower case; also a trace id. */
  readonly text: string
  /** Empty: all. */
  readonly severity: string
  /** Also calls that change nothing: plans, previews, checks. */
  readonly isAll: boolean
}

/** Entries that were searched by their trace id are always shown. */
export function filterEntries(
  entries: readonly ApiLogEntry[],
  { text, severity, isAll }: EntryFilter,
): readonly ApiLogEntry[] {
  return entries.filter(
    (entry) =>
      (severity === '' || String(entry.severity) === severity) &&
      (isAll || !entry.asksOnly || entry.traceId.toLowerCase() === text) &&
      holds(entry, text),
  )
}

/** The newest of the log, and what the coordinator found of a trace, each once. */
export function joinEntries(
  newest: readonly ApiLogEntry[],
  traced: readonly ApiLogEntry[],
): readonly ApiLogEntry[] {
  if (traced.length === 0) return newest
  const known = new Set(newest.map(({ id }) => id))
  return [...newest, ...traced.filter(({ id }) => !known.has(id))]
}

/** A trace id as the coordinator makes and accepts them; other texts need no call. */
export function isTraceId(text: string): boolean {
  return /^[A-Za-z0-9_-]{8,64}$/.test(text)
}

export function countSeverities(entries: readonly ApiLogEntry[]) {
  const counts = new Map<string, number>()
  for (const { severity } of entries)
    counts.set(String(severity), (counts.get(String(severity)) ?? 0) + 1)
  return severities.map((one) => ({ ...one, count: counts.get(one.value) ?? 0 }))
}

/** The call as it is shown; the message of an entry that an agent reported. */
export function formatCall({ method, path, msg }: ApiLogEntry): string {
  // Nearly all begin with it.
  return method === '' ? msg : `${method} ${path.replace(/^\/api\/v1(?=\/)/, '')}`
}

/** Its status; of what was no call its severity. */
export function formatStatus({ method, status, severity }: ApiLogEntry): string {
  if (method !== '') return String(status)
  return severities.find(({ value }) => value === String(severity))?.title ?? ''
}

function holds(entry: ApiLogEntry, text: string): boolean {
  const { msg, path, account, traceId, status } = entry
  return (
    text === '' ||
    [msg, formatCall(entry), path, account, traceId, status].join(' ').toLowerCase().includes(text)
  )
}
