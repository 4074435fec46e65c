/** The subject of graphs: all caches, a group, a domain, a tag, or some caches; in the URL `vclgroups/3`, `agents/5,6`. */

export const subjectKinds = [
  { value: 'fleet', title: 'All caches' },
  { value: 'vclgroups', title: 'Group' },
  { value: 'domains', title: 'Domain' },
  { value: 'tags', title: 'Tag' },
  { value: 'agents', title: 'Caches' },
] as const
export type SubjectKind = (typeof subjectKinds)[number]['value']

export interface Subject {
  readonly kind: SubjectKind
  /** One id for a group, domain or tag; none for all caches. */
  readonly ids: readonly number[]
}

export const fleet: Subject = { kind: 'fleet', ids: [] }
/** The API sums at most this many caches. */
export const maxCaches = 100

/** Null: `word` names no subject. */
export function readSubject(word: string): Subject | null {
  const [kind, list = ''] = word.split('/')
  if (word === 'fleet') return fleet
  const found = subjectKinds.find(({ value }) => value === kind)?.value
  if (found === undefined || found === 'fleet') return null
  if (!/^[1-9]\d{0,14}(?:,[1-9]\d{0,14})*$/.test(list)) return null
  const ids = [...new Set(list.split(',').map(Number))]
  return { kind: found, ids: ids.slice(0, found === 'agents' ? maxCaches : 1) }
}

export function formatSubject({ kind, ids }: Subject): string {
  return kind === 'fleet' ? kind : `${kind}/${ids.join(',')}`
}

interface Seconds {
  readonly from: number
  readonly to: number
}

/** Returns the API path for a graph of the subject's requests; null: it has no requests of its own. */
export function trafficPath(
  { kind, ids }: Subject,
  { from, to }: Seconds,
  graph: string,
): string | null {
  if (kind !== 'vclgroups' && kind !== 'domains') return null
  return `/${kind}/${ids[0] ?? 0}/graph/${graph}/AVERAGE/${from}/${to}`
}

/** Returns the API path for the counters of its caches; null: the caches serve others too, so their sum is meaningless. */
export function seriesPath(
  { kind, ids }: Subject,
  { from, to }: Seconds,
  counters: readonly string[],
): string | null {
  if (kind === 'domains') return null
  const words = new URLSearchParams({ counters: counters.join(',') })
  const ofGroup = kind === 'vclgroups' ? `/vclgroups/${ids[0] ?? 0}` : ''
  if (kind === 'tags' || kind === 'agents') words.set(kind, ids.join(','))
  return `${ofGroup}/stats/AVERAGE/${from}/${to}?${words}`
}

/** Returns the API path for the events in the range. */
export function marksPath({ kind, ids }: Subject, { from, to }: Seconds): string {
  const [id = 0] = ids
  const query =
    kind === 'vclgroups'
      ? `?vclGroup=${id}`
      : kind === 'agents' && ids.length === 1
        ? `?agent=${id}`
        : ''
  return `/marks/${from}/${to}${query}`
}

/** Explains why there may be no data. */
export function explainNothing({ kind }: Subject): string {
  if (kind === 'vclgroups')
    return 'The group is not on any cache now, or its caches were offline. Deploy it, or choose another range.'
  if (kind === 'domains')
    return 'No requests for it were seen, or the agents cannot read the logs of its caches. Choose another range.'
  if (kind === 'tags') return 'No cache has this tag, or those that have it were offline.'
  return 'The caches were offline or not running, are new, or their agents cannot read the counters (--engine-name says where they are). Choose another range.'
}
