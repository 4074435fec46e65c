/** Returns the reason for a cache's problem state in one line, and its rank; pure functions. */
import type { Agent } from '../../../resources/agent.js'
import { agentStates } from '../../../resources/agent-state.js'
import { worstSeverity, type Problem } from '../../../resources/problem.js'

export type Ill = Pick<Agent, 'state' | 'problems'>

/** Describes the worst problem; null: there is none. */
export interface Reason extends Pick<Problem, 'severity' | 'message' | 'since' | 'remedy'> {
  /** Number of other problems. */
  readonly others: number
}

export function findReason({ problems }: Ill): Reason | null {
  const [worst] = problems.toSorted((a, b) => b.severity - a.severity)
  return worst ? { ...worst, others: problems.length - 1 } : null
}

/** Sort rank in agreement with the map's colours: the worst problem first, then the state. The lowest rank is the worst. */
export function rankCache({ state, problems }: Ill): number {
  return (3 - worstSeverity(problems)) * 10 + ranked.indexOf(state)
}

const { Running, Failing, Down, ReadOnly, Locked } = agentStates
const ranked: readonly Agent['state'][] = [Down, Failing, Locked, Running, ReadOnly]

export function isAway({ state }: Pick<Agent, 'state'>): boolean {
  return state === Down
}

/** Sorts `edge-2` before `edge-10`. Names of caches are ASCII letters, digits and dashes, so this is far cheaper than a collator. */
export function sortByName<T extends { readonly name: string }>(rows: readonly T[]): readonly T[] {
  const keyed = rows.map((row) => ({ row, key: keyOf(row.name) }))
  keyed.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
  return keyed.map(({ row }) => row)
}

function keyOf(name: string): string {
  return name.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(12, '0'))
}
