/** Groups the caches of the map by their tags. Pure functions. */
import type { Agent } from '../../../../resources/agent.js'

type Tagged = { readonly tags: readonly Pick<Agent['tags'][number], 'name'>[] }

export interface TileGroup<T> {
  readonly title: string
  readonly agents: readonly T[]
}

/** More groups could not be distinguished: the smallest are merged into one. */
const maxGroups = 40

/**
 * Each cache is in one group. Tags on all caches are ignored, and a tag on a single cache makes no group. The largest groups
 * come first.
 */
export function groupByTags<T extends Tagged>(agents: readonly T[]): readonly TileGroup<T>[] {
  const counts = new Map<string, number>()
  for (const { tags } of agents)
    for (const { name } of tags) counts.set(name, (counts.get(name) ?? 0) + 1)
  const isDistinctive = (name: string): boolean => {
    const count = counts.get(name) ?? 0
    return count > 1 && count < agents.length
  }
  const groups = new Map<string, T[]>()
  for (const agent of agents) {
    const names = agent.tags.flatMap(({ name }) => (isDistinctive(name) ? [name] : []))
    const title = names.sort().join(', ')
    const known = groups.get(title)
    if (known) known.push(agent)
    else groups.set(title, [agent])
  }
  if (groups.size === 1) return [{ title: 'All caches', agents }]
  const sorted = [...groups]
    .map(([title, its]) => ({ title: title === '' ? 'No other tags' : title, agents: its }))
    .sort((a, b) => b.agents.length - a.agents.length)
  if (sorted.length <= maxGroups) return sorted
  const rest = sorted.slice(maxGroups - 1).flatMap((group) => group.agents)
  return [...sorted.slice(0, maxGroups - 1), { title: 'Other tags', agents: rest }]
}
