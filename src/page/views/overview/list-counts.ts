/** Lists states with their counts, worst first, without empty ones. */
import { toneOfState, type Tone } from '../../parts/tone-of-state.js'

export interface Count {
  readonly name: string
  readonly count: number
}

const worstFirst: readonly Tone[] = ['bad', 'warn', 'busy', 'good', 'calm']

export function listCounts(counts: Readonly<Record<string, number>>): readonly Count[] {
  return Object.entries(counts)
    .map(([name, count]) => ({ name, count }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => rankOf(a.name) - rankOf(b.name))
}

function rankOf(name: string): number {
  return worstFirst.indexOf(toneOfState(name))
}

/** Returns true if any object is in a state that is not good. */
export function isAnyIll(counts: Readonly<Record<string, number>> | null): boolean {
  return listCounts(counts ?? {}).some(({ name }) => ['bad', 'warn'].includes(toneOfState(name)))
}
