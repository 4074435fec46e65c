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
  readonly calls: CallKind
  /** Of what entries are about; a text may be such a name. */
  readonly names: ObjectNames
}

/** Empty: changes; `all`: also plans, previews and checks, which change nothing. */
export type CallKind = '' | 'logins' | 'all'

/** By `formatKey`. */
export type ObjectNames = ReadonlyMap<string, string>

export function formatKey(type: string, id: number | null): string {
  return `${type} ${id ?? ''}`
}

/** Entries that were searched by their trace id are always shown. */
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

/** A login or logout, of a person or a program, through either API. */
function isLogin({ path }: ApiLogEntry): boolean {
  return /^\/api\/(?:v1\/auth|rest)\/log(?:in|out)\b/.test(path)
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

/** `group shop`; of what is gone, or may not be read, its id. */
export function formatObject({ keyType, keyId }: ApiLogEntry, names: ObjectNames): string {
  const word = words[keyType] ?? keyType
  const name = names.get(formatKey(keyType, keyId)) ?? keyId
  return name === null ? word : `${word} ${name}`
}

/** Where the page does not say it as the API. */
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
