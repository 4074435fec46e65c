/** Describes events in words, for lists and charts. Pure functions. */
import type { ChartMark } from '../../charts/chart-mark.js'
import type { Mark, MarkKind } from '../../../resources/mark.js'
import type { Outage } from './find-outages.js'

const titles: Readonly<Record<MarkKind, string>> = {
  adopt: 'Adoption',
  deploy: 'Deploy',
  undeploy: 'Undeploy',
  reload: 'Recompile',
  rollback: 'Rollback',
  promote: 'Promotion',
  ban: 'Ban',
  purge: 'Purge',
  'agent-down': 'Agent down',
  'cache-failing': 'Cache failing',
}

export interface Happening extends ChartMark {
  /** Link to details; null: none. */
  readonly href: string | null
}

const folders = { vclgroup: 'groups', invalidation: 'invalidations', agent: 'caches' } as const

export function describeMark({ at, kind, failed, revision, object, account }: Mark): Happening {
  const { type, id, name } = object
  const what = type === 'invalidation' ? `${titles[kind]} ${id}` : `${titles[kind]}: ${name}`
  const how = failed ? ' failed' : revision !== null && revision > 0 ? `, revision ${revision}` : ''
  return {
    at: Date.parse(at) / 1000,
    tone: type === 'agent' ? 'outage' : type === 'invalidation' ? 'removal' : 'change',
    text: `${what}${how}${account === null ? '' : ` by ${account}`}`,
    href: `/${folders[type]}/${id}${type === 'vclgroup' ? '/history' : ''}`,
  }
}

/** Drops deploys of groups other than these; null: keeps all. */
export function keepGroups(marks: readonly Mark[], ids: ReadonlySet<number> | null) {
  return marks.filter(({ object: { type, id } }) => type !== 'vclgroup' || (ids?.has(id) ?? true))
}

/** An outage of at least half of the caches is shaded as a period; a smaller one is marked as a moment. */
export function describeOutage({ from, to, measured, of }: Outage): Happening {
  const caches = of === 1 ? 'cache' : 'caches'
  const isOfMost = measured * 2 <= of
  return {
    at: from,
    tone: 'outage',
    href: null,
    ...(isOfMost && { until: to }),
    text: `${of - measured} of ${of} ${caches} not measured`,
  }
}
