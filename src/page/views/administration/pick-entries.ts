/** Which entries of the api log are shown, and how many there are of each severity. */
import type { ApiLogEntry } from '../../api/api-log-entry.js'

export const severities = [
  { value: '1', title: 'Info' },
  { value: '2', title: 'Refused' },
  { value: '3', title: 'Failed' },
] as const

export interface EntryFilter {
  /** In lower case; also a trace id. */
  readonly text: string
  /** Empty: all. */
  readonly severity: string
}

export function pickEntries(
  entries: readonly ApiLogEntry[],
  { text, severity }: EntryFilter,
): readonly ApiLogEntry[] {
  return entries.filter(
    (entry) => (severity === '' || String(entry.severity) === severity) && holds(entry, text),
  )
}

export function countSeverities(entries: readonly ApiLogEntry[]) {
  const counts = new Map<string, number>()
  for (const { severity } of entries)
    counts.set(String(severity), (counts.get(String(severity)) ?? 0) + 1)
  return severities.map((one) => ({ ...one, count: counts.get(one.value) ?? 0 }))
}

function holds(
  { msg, path, account, traceId, method, status }: ApiLogEntry,
  text: string,
): boolean {
  return (
    text === '' ||
    [msg, path, account, traceId, method, status].join(' ').toLowerCase().includes(text)
  )
}
