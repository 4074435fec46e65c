/** Returns the health of a group's backend in a word; pure functions. */
import type { Backend } from '../../../resources/backend.js'

interface DescribedHealth {
  readonly words: string
  readonly tone: 'good' | 'warn' | 'bad' | 'calm'
}

export function describeHealth({
  healthy,
  sick,
}: Pick<Backend, 'healthy' | 'sick'>): DescribedHealth {
  if (sick === 0)
    return healthy === 0 ? { words: 'Unknown', tone: 'calm' } : { words: 'Healthy', tone: 'good' }
  if (healthy === 0) return { words: sick === 1 ? 'Sick' : `Sick on all ${sick}`, tone: 'bad' }
  return { words: `Sick on ${sick} of ${healthy + sick}`, tone: 'warn' }
}

/** Returns the text that the search matches. */
export function searchedText({ name, vclGroup, agents }: Backend): string {
  return [name, vclGroup.name, ...agents.map((agent) => agent.name)].join('\n')
}
