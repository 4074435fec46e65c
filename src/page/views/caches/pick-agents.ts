/** Which caches the filters of the address show: values in, values out. */
import type { Agent } from '../../api/agent.js'

export interface AgentFilter {
  /** In lower case: name, tags or address hold it. */
  readonly text: string
  /** Empty: all. */
  readonly state: string
}

type Filtered = Pick<Agent, 'name' | 'stateName' | 'tags' | 'engineHost'>

export function pickAgents<T extends Filtered>(
  agents: readonly T[],
  { text, state }: AgentFilter,
): readonly T[] {
  return agents.filter(
    (agent) =>
      (state === '' || agent.stateName === state) &&
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
