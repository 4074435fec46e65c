/** Filters the entries of the API log and counts them by severity. */
import type { ApiLogEntry } from '../../../resources/api-log-entry.js'

const severities = [
  { value: '1', title: 'Info' },
  { value: '2', title: 'Warning' },
  { value: '3', title: 'Error' },
] as const

interface EntryFilter {
  /** In lower case; may be a trace id. */
  readonly text: string
  /** Empty: all. */
  readonly severity: string
  readonly calls: CallKind
  /** Names of the objects that entries are about; `text` may match one. */
  readonly names: ObjectNames
}

/** Empty: changes; `all`: also plans, previews and checks, which change nothing. */
export type CallKind = '' | 'logins' | 'all'

/** Keyed by `formatKey`. */
export type ObjectNames = ReadonlyMap<string, string>

export function formatKey(type: string, id: number | null): string {
  return `${type} ${id ?? ''}`
}

/** Entries whose trace id was searched are shown regardless of their kind. */
export function filterEntries(
  entries: readonly ApiLogEntry[],
  { text, severity, calls, names }: EntryFilter,
): readonly ApiLogEntry[] {
  return entries.filter(
    (entry) =>
      (severity === '' || String(entry.severity) === severity) &&
      (isOfKind(entry, calls) || entry.traceId.toLowerCase() === text) &&
      holds(entry, text, names),
  )
}

function isOfKind(entry: ApiLogEntry, calls: CallKind): boolean {
  if (calls === 'all') return true
  return !entry.asksOnly && isLogin(entry) === (calls === 'logins')
}

/** True for a login or logout, by a user or a program, through either API. */
function isLogin({ path }: ApiLogEntry): boolean {
  return /^\/api\/(?:v1\/auth|rest)\/log(?:in|out)\b/.test(path)
}

/** Merges the newest entries with those that the coordinator found for a trace, without duplicates. */
export function joinEntries(
  newest: readonly ApiLogEntry[],
  traced: readonly ApiLogEntry[],
): readonly ApiLogEntry[] {
  if (traced.length === 0) return newest
  const known = new Set(newest.map(({ id }) => id))
  return [...newest, ...traced.filter(({ id }) => !known.has(id))]
}

/** True for a trace id that the coordinator could have made or would accept; other texts need no call. */
export function isTraceId(text: string): boolean {
  return /^[A-Za-z0-9_-]{8,64}$/.test(text)
}

export function countSeverities(entries: readonly ApiLogEntry[]) {
  const counts = new Map<string, number>()
  for (const { severity } of entries)
    counts.set(String(severity), (counts.get(String(severity)) ?? 0) + 1)
  return severities.map((one) => ({ ...one, count: counts.get(one.value) ?? 0 }))
}

/** Formats the call; for an entry reported by an agent, its message. */
export function formatCall({ method, path, msg }: ApiLogEntry): string {
  // Nearly all paths begin with this prefix.
  return method === '' ? msg : `${method} ${path.replace(/^\/api\/v1(?=\/)/, '')}`
}

/** Formats the status; for an entry that is not a call, its severity. */
export function formatStatus({ method, status, severity }: ApiLogEntry): string {
  if (method !== '') return String(status)
  return severities.find(({ value }) => value === String(severity))?.title ?? ''
}

/** Formats the object as `group shop`; a deleted or unreadable object by its id. */
export function formatObject({ keyType, keyId }: ApiLogEntry, names: ObjectNames): string {
  const word = words[keyType] ?? keyType
  const name = names.get(formatKey(keyType, keyId)) ?? keyId
  return name === null ? word : `${word} ${name}`
}

/** Terms that differ between the page and the API. */
const words: Readonly<Record<string, string>> = {
  agent: 'cache',
  vclgroup: 'group',
  idp: 'identity provider',
  jointoken: 'join token',
}

function holds(entry: ApiLogEntry, text: string, names: ObjectNames): boolean {
  if (text === '') return true
  const { msg, path, account, traceId, status } = entry
  const searched = [msg, formatCall(entry), path, account, traceId, status]
  return [...searched, formatObject(entry, names)].join(' ').toLowerCase().includes(text)
}
