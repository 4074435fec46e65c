/** Evaluates the whole records of a request: which request it was, whose, and which records may leave the host. */
import type { LoggedPart } from '../resources/logged-transaction.js'
import { allowedTags } from './allowed-tags.js'
import type { LogLine } from './log-line.js'
import { maskHeader, maskUrl, type Masking } from './masking.js'
import { findText, type RecordGroup } from './record-groups.js'

/** Read to determine the request and group of a part; not shown. */
const innerTags = ['Begin', 'ReqStart', 'VCL_use', 'BackendOpen', 'PipeAcct']
export const recordTags = [...innerTags, ...allowedTags].join(',')

/** Limit of one shown record. */
const textLimitCharacters = 2_048

/** Returns the request that was answered: the last one if VCL restarted it. Null if the group has no request. */
export function findAnswered({ parts }: RecordGroup): LoggedPart | null {
  return parts.findLast(({ kind, reason }) => kind === 'request' && reason !== 'esi') ?? null
}

/** Builds the line that the other tool prints for a request, choosing among its records as that tool does. */
export function toLogLine(answered: LoggedPart, parts: readonly LoggedPart[]): LogLine {
  const first = (tag: string, field?: number): string => findText(answered, tag, field) ?? ''
  const time = (name: string, field: number): string => {
    const record = answered.records.find(
      (one) => one.tag === 'Timestamp' && one.text.startsWith(`${name}: `),
    )
    return record?.text.split(' ')[field] ?? ''
  }
  const duration = time('Resp', 2) || time('PipeSess', 2)
  const host = answered.records.find(({ tag, text }) => tag === 'ReqHeader' && /^host:/i.test(text))
  const fetches = parts.filter(
    ({ kind, parentXid }) => kind === 'fetch' && parentXid === answered.xid,
  )
  const backends = fetches.flatMap((part) => findText(part, 'BackendOpen', 1) ?? [])
  return {
    side: 'c',
    vxid: String(answered.xid),
    parent: String(answered.parentXid),
    reason: answered.reason,
    startedAtSeconds: time('Start', 1),
    method: first('ReqMethod'),
    url: first('ReqURL'),
    host: host?.text.slice('host:'.length).trim() ?? '',
    status: answered.records.findLast(({ tag }) => tag === 'RespStatus')?.text ?? '',
    bytes: first('ReqAcct', 5) || first('PipeAcct', 3),
    firstByteSeconds: time('Process', 2) || time('Pipe', 2),
    durationUs: duration === '' ? '' : String(Number(duration) * 1e6),
    handling: readHandling(answered),
    backend: backends.at(-1) ?? '-',
    client: first('ReqStart', 0),
  }
}

function readHandling({ records }: LoggedPart): string {
  const ends = ['HIT', 'MISS', 'PASS', 'PIPE', 'SYNTH']
  const call = records.findLast(({ tag, text }) => tag === 'VCL_call' && ends.includes(text))
  return call?.text.toLowerCase() ?? ''
}

/**
 * Keeps only the parts that VCL with a matching name answered, because a page may include parts of other owners' sites. A part
 * without its own VCL belongs to the part that caused it.
 */
export function keepParts(
  parts: readonly LoggedPart[],
  names: Pick<RegExp, 'test'>,
): readonly LoggedPart[] {
  const own = new Set<number>()
  return parts.filter(({ xid, parentXid, records }) => {
    const used = records.findLast(({ tag }) => tag === 'VCL_use')?.text
    const isOwn = used === undefined ? own.has(parentXid) : names.test(used)
    if (isOwn) own.add(xid)
    return isOwn
  })
}

/** Returns the part as it may leave the host. */
export function toShown(part: LoggedPart, masking: Masking): LoggedPart {
  const records = part.records.flatMap(({ tag, text }) =>
    allowedTags.some((one) => one === tag)
      ? [{ tag, text: maskRecord(tag, text, masking).slice(0, textLimitCharacters) }]
      : [],
  )
  return { ...part, records }
}

function maskRecord(tag: string, text: string, masking: Masking): string {
  if (tag === 'ReqURL') return maskUrl(text, masking)
  return tag.endsWith('Header') ? maskHeader(text, masking) : text
}
