/**
 * What an entry of the invalidation log is, and what is true of it. There is no row for each agent and entry: an agent has
 * done what its cursor has passed, and the entry lists those of which that is not the whole truth.
 */
import { invalidationStates, type InvalidationResult } from '../../resources/invalidation.js'
import type { BanTerm } from '../../vcl/ban-expression.js'

type InvalidationStateName = keyof typeof invalidationStates
export type InvalidationState = (typeof invalidationStates)[InvalidationStateName]
/** Of an entry that has ended. */
export type InvalidationOutcome = 2 | 3 | 6

export function invalidationStateName(state: InvalidationState): InvalidationStateName {
  const found = Object.entries(invalidationStates).find(([, number]) => number === state)
  return (found?.[0] ?? 'Running') as InvalidationStateName // every state is in the table
}

export type InvalidationContent =
  | { readonly type: 'ban'; readonly expressions: readonly (readonly BanTerm[])[] }
  | {
      readonly type: 'purge'
      readonly urls: readonly string[]
      readonly method: string
      readonly headers: Readonly<Record<string, string>>
    }

export const defaultTtlSeconds = 24 * 3600
/** One year. */
export const ttlLimitSeconds = 365 * 24 * 3600
/** An entry fits into a message of the link, however much of it needs escaping. */
export const memberLimit = 1000
export const contentLimitBytes = 256 * 1024

/**
 * What an entry covers on one agent. Of a ban: null is the whole cache, else these groups only; of a purge: who is asked
 * for each host of the entry, a group, 0 the root group, null nobody.
 */
export type Coverage =
  | { readonly groups: readonly number[] | null }
  | { readonly holders: readonly (number | null)[] }

export const rootHolder = 0

export function isNothing(coverage: Coverage): boolean {
  return 'groups' in coverage
    ? coverage.groups?.length === 0
    : coverage.holders.every((holder) => holder === null)
}

export type ResultState = InvalidationResult['state']

/** Agents of which the cursor does not tell all, those with the same words together. */
export interface Exception {
  readonly state: Exclude<ResultState, 'pending'>
  readonly error: string | null
  /** The newest. */
  readonly at: number
  readonly agents: readonly number[]
}

/** The same list with these; what an agent had before is replaced. */
export function addExceptions(
  list: readonly Exception[],
  added: readonly Exception[],
): readonly Exception[] {
  const moved = new Set(added.flatMap(({ agents }) => agents))
  const joined = new Map<string, Exception>()
  const kept = list.map((one) => ({ ...one, agents: one.agents.filter((id) => !moved.has(id)) }))
  for (const one of [...kept, ...added]) {
    if (one.agents.length === 0) continue
    const key = `${one.state} ${one.error ?? ''}`
    const before = joined.get(key)
    joined.set(key, {
      ...one,
      at: Math.max(before?.at ?? 0, one.at),
      agents: [...(before?.agents ?? []), ...one.agents],
    })
  }
  return [...joined.values()]
}

export function isBad({ state }: Pick<Exception, 'state'>): boolean {
  return state !== 'done'
}

/** An agent that is to do something and has not yet. */
export interface PendingAgent {
  /** No link, locked or read-only. */
  readonly isAway: boolean
  /** The connection to its cache failed when it tried last. */
  readonly hasTrouble: boolean
}

/** Of an entry that has not ended. */
export function judgeOpenState(pending: readonly PendingAgent[]): InvalidationState {
  if (pending.length > 0 && pending.every(({ isAway }) => isAway)) return invalidationStates.Waiting
  if (pending.some(({ isAway, hasTrouble }) => !isAway && hasTrouble))
    return invalidationStates.Retrying
  return invalidationStates.Running
}
