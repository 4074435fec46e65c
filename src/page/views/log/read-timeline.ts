/** Orders the records of a request as steps: received, hash, lookup, fetch, deliver; each with its time. */
import type { LoggedPart, LogRecord } from '../../../resources/logged-transaction.js'

export interface Step {
  readonly title: string
  /** Time since the request was received, from the last timestamp in the step; null: it has none. */
  readonly endsAtMs: number | null
  readonly records: readonly LogRecord[]
}

/** Subrequests, such as parts of a page, follow where their parent waited for them; others follow after it. */
export function readTimeline(parts: readonly LoggedPart[]): readonly Step[] {
  const begin = parts[0] === undefined ? null : readTimes(parts[0].records)[0]
  const xids = new Set(parts.map(({ xid }) => xid))
  const roots = parts.filter(({ parentXid }) => !xids.has(parentXid))
  return roots.flatMap((part) => listSteps(part, parts, begin ?? 0))
}

function listSteps(part: LoggedPart, all: readonly LoggedPart[], beginMs: number): Step[] {
  const own = splitRecords(part).map(({ title, records }) => {
    const last = readTimes(records).at(-1)
    return { title, records, endsAtMs: last === undefined ? null : last - beginMs }
  })
  const inner = all.filter(({ parentXid, xid }) => parentXid === part.xid && xid !== part.xid)
  const fetched = inner.filter((one) => one.kind === 'fetch' && one.reason !== 'bgfetch')
  const others = inner.filter((one) => !fetched.includes(one))
  const steps = (some: readonly LoggedPart[]) => some.flatMap((one) => listSteps(one, all, beginMs))
  const answer = own.findIndex(({ title }) => title.endsWith(answered))
  const at = answer < 0 ? own.length : answer
  return [...own.slice(0, at), ...steps(fetched), ...own.slice(at), ...steps(others)]
}

const answered = 'Deliver'

interface Titled {
  readonly title: string
  readonly records: LogRecord[]
}

function splitRecords(part: LoggedPart): readonly Titled[] {
  const prefix = prefixes[part.reason] ?? ''
  const first = part.kind === 'fetch' ? 'Fetch' : 'Received'
  const steps: Titled[] = [{ title: `${prefix}${first}`, records: [] }]
  for (const record of part.records) {
    const title = part.kind === 'fetch' ? titleFetch(record) : titleRequest(record)
    const isNew = title !== null && !steps.some((step) => step.title === prefix + title)
    if (isNew) steps.push({ title: prefix + title, records: [] })
    steps.at(-1)?.records.push(record)
  }
  return steps
}

const prefixes: Readonly<Record<string, string>> = {
  esi: 'Part of the page: ',
  restart: 'Again: ',
  retry: 'Again: ',
  bgfetch: 'In the background: ',
}

/** Returns the title of the step that begins with this record. */
function titleRequest({ tag, text }: LogRecord): string | null {
  if (tag === 'VCL_call' && text === 'HASH') return 'Hash'
  if (['Hit', 'HitMiss', 'HitPass'].includes(tag)) return 'Lookup'
  if (tag === 'VCL_call' && ['HIT', 'MISS', 'PASS', 'PIPE'].includes(text)) return 'Lookup'
  if (tag === 'RespStatus') return answered
  return tag === 'Timestamp' && text.startsWith('Restart:') ? 'Restart' : null
}

function titleFetch({ tag, text }: LogRecord): string | null {
  if (tag === 'BerespStatus') return 'Backend answers'
  if (tag === 'Error' || tag === 'FetchError') return 'Backend fails'
  return tag === 'Timestamp' && text.startsWith('BerespBody:') ? 'Body' : null
}

/** Milliseconds since 1970, from `Start: 1700000000.123456 0.000000 0.000000`. */
function readTimes(records: readonly LogRecord[]): readonly number[] {
  return records.flatMap(({ tag, text }) => {
    const seconds = tag === 'Timestamp' ? Number(text.split(' ')[1]) : Number.NaN
    return Number.isFinite(seconds) ? [seconds * 1000] : []
  })
}
