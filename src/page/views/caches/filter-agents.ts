/** Applies the filters in the address to the caches; pure functions. */
import type { Agent } from '../../../resources/agent.js'
import type { Tag } from '../../../resources/tag.js'
import { judgeConfig, type Judged } from './judge-config.js'

/** For each filter with a list of values: the values of a cache. */
export const facets = {
  tag: ({ tags }: Pick<Filtered, 'tags'>) => tags.map(({ name }) => name),
  config: (agent: Judged): readonly string[] => [judgeConfig(agent).word],
  version: ({ engineVersion }: Pick<Agent, 'engineVersion'>) => [engineVersion],
} as const
export type Facet = keyof typeof facets

/** Empty: all. */
export interface AgentFilter extends Readonly<Record<Facet, string>> {
  /** In lower case; matches name, tags or address. */
  readonly text: string
  readonly state: string
}

type Filtered = Pick<Agent, 'name' | 'stateName' | 'engineHost' | 'engineVersion'> &
  Judged & { readonly tags: readonly Pick<Tag, 'name'>[] }

export function filterAgents<T extends Filtered>(
  agents: readonly T[],
  { text, state, ...words }: AgentFilter,
): readonly T[] {
  const wanted = Object.entries(words).filter(([, word]) => word !== '')
  return agents.filter(
    (agent) =>
      (state === '' || agent.stateName === state) &&
      wanted.every(([facet, word]) => facets[facet as Facet](agent).includes(word)) &&
      (text === '' ||
        [agent.name, agent.engineHost, ...facets.tag(agent)].some((one) =>
          one.toLowerCase().includes(text),
        )),
  )
}

/** Counts the caches per state that occurs, in the order of the API's state numbers. */
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

export interface CountedWord {
  readonly word: string
  readonly count: number
}

/** Sorted by word. */
export function countWords<T>(
  agents: readonly T[],
  wordsOf: (agent: T) => readonly string[],
): readonly CountedWord[] {
  const counts = new Map<string, number>()
  for (const agent of agents)
    for (const word of wordsOf(agent)) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts]
    .map(([word, count]) => ({ word, count }))
    .sort((a, b) => a.word.localeCompare(b.word, undefined, { numeric: true }))
}

/** The number of characters that fit on a narrow screen. */
const wholeCharacters = 18
const endCharacters = 12

/** Splits off the last word of a long name, which distinguishes it from its neighbours; empty if the name is short or one word. */
export function splitName(name: string): { readonly start: string; readonly end: string } {
  const at = Math.max(...['-', '.', '_'].map((mark) => name.lastIndexOf(mark)))
  const isWhole = name.length <= wholeCharacters || name.length - at > endCharacters || at < 1
  return isWhole ? { start: name, end: '' } : { start: name.slice(0, at), end: name.slice(at) }
}
