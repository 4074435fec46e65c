/** Formats invalidations for lists and heads, and filters them. Pure functions. */
import type { InvalidationTarget, ListedInvalidation } from '../../../resources/invalidation.js'

/** Names an invalidation by its number. */
export function formatTitle({ id, type }: Pick<ListedInvalidation, 'id' | 'type'>): string {
  return `${type === 'ban' ? 'Ban' : 'Purge'} ${id}`
}

/** Returns the first expression or URL, and the number of others. */
export function formatContent({
  expressions,
  urls,
}: Pick<ListedInvalidation, 'expressions' | 'urls'>): string {
  const [first = '', ...rest] = [...expressions, ...urls]
  return rest.length === 0 ? first : `${first} and ${rest.length} more`
}

export function formatTarget({ vclGroup, domains, tags, agents, all }: InvalidationTarget): string {
  if (all) return 'All caches'
  if (vclGroup) return `Group ${vclGroup.name}`
  if (domains)
    return formatNames(
      'Domain',
      'Domains',
      domains.map(({ fqdn }) => fqdn),
    )
  if (tags)
    return formatNames(
      'Tag',
      'Tags',
      tags.map(({ name }) => name),
    )
  return formatNames('Cache', 'Caches', agents?.map(({ name }) => name) ?? [])
}

function formatNames(one: string, several: string, names: readonly string[]): string {
  return `${names.length === 1 ? one : several} ${names.join(', ')}`
}

interface InvalidationFilter {
  /** Lower-case text, searched in content, target and account. */
  readonly text: string
  /** Empty: all states. */
  readonly state: string
  readonly type: string
}

export function filterInvalidations(
  rows: readonly ListedInvalidation[],
  { text, state, type }: InvalidationFilter,
): readonly ListedInvalidation[] {
  return rows.filter(
    (row) =>
      (state === '' || row.stateName === state) &&
      (type === '' || row.type === type) &&
      (text === '' ||
        [...row.expressions, ...row.urls, formatTarget(row.target), row.account].some((words) =>
          words.toLowerCase().includes(text),
        )),
  )
}

/** Ongoing states first, completed ones last. */
const states = ['Running', 'Retrying', 'Waiting', 'Failed', 'Cancelled', 'Completed']

/** Returns the states that occur. */
export function countStates(rows: readonly Pick<ListedInvalidation, 'stateName'>[]) {
  return states
    .map((state) => ({
      value: state,
      title: state,
      count: rows.filter(({ stateName }) => stateName === state).length,
    }))
    .filter(({ count }) => count > 0)
}
