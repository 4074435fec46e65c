/** Which caches the filters of the address show: values in, values out. */
import type { Agent } from '../../api/agent.js'

export interface AgentFilter {
  /** In lower case: name, tags or address hold it. */
  readonly text: string
  /** Empty: all. */
  readonly state: string
  /** A tag's name; empty: all. */
  readonly tag?: string
}

type Filtered = Pick<Agent, 'name' | 'stateName' | 'tags' | 'engineHost'>

export function pickAgents<T extends Filtered>(
  agents: readonly T[],
  { text, state, tag = '' }: AgentFilter,
): readonly T[] {
  return agents.filter(
    (agent) =>
      (state === '' || agent.stateName === state) &&
      (tag === '' || agent.tags.some(({ name }) => name === tag)) &&
      (text === '' ||
        [agent.name, agent.engineHost, ...agent.tags.map(({ name }) => name)].some((word) =>
          word.toLowerCase().includes(text),
        )),
  )
}

/** The states that there are, the ill ones last as the API numbers them. */
export function countStates(
  agents: readonly { readonly state: number; readonly stateName: string }[],
): readonly { readonly value: string; readonly title: string; readonly count: number }[] {
  const counts = new Map<string, { readonly state: number; count: number }>()
  for (const { state, stateName } of agents) {
    const known = counts.get(stateName)
    if (known) known.count++
    else counts.set(stateName, { state, count: 1 })
  }
  return [...counts]
    .sort(([, a], [, b]) => a.state - b.state)
    .map(([name, { count }]) => ({ value: name, title: name, count }))
}

/** The tags that caches bear, by name. */
export function countTags(
  agents: readonly Pick<Agent, 'tags'>[],
): readonly { readonly name: string; readonly count: number }[] {
  const counts = new Map<string, number>()
  for (const { tags } of agents)
    for (const { name } of tags) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => ({ name, count }))
}

/** Chosen by us: what has room on a narrow screen. */
const wholeCharacters = 24
const endCharacters = 12

/** The last word of a long name, by which it differs from its neighbours; empty when the name is short or one word. */
export function splitName(name: string): { readonly start: string; readonly end: string } {
  const at = Math.max(...['-', '.', '_'].map((mark) => name.lastIndexOf(mark)))
  const isWhole = name.length <= wholeCharacters || name.length - at > endCharacters || at < 1
  return isWhole ? { start: name, end: '' } : { start: name.slice(0, at), end: name.slice(at) }
}
