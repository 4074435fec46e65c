/**
 * Entries of the invalidation log and their states. There is no row per agent and entry: an agent has completed every entry
 * that its cursor has passed, and the entry lists the exceptions.
 */
import { invalidationStates, type InvalidationResult } from '../../resources/invalidation.js'
import type { BanTerm } from '../../vcl/ban-expression.js'

type InvalidationStateName = keyof typeof invalidationStates
export type InvalidationState = (typeof invalidationStates)[InvalidationStateName]
/** States of an ended entry. */
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
/** An entry fits into a message of the link, even if all of it needs escaping. */
export const memberLimit = 1000
export const contentLimitBytes = 256 * 1024

/**
 * Coverage of an entry on one agent. For a ban: null is the whole cache, else only these groups. For a purge: the group that
 * handles each host of the entry, 0 for the root group, null for none.
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

/** Exceptions to the cursors; agents with the same text are grouped. */
export interface Exception {
  readonly state: Exclude<ResultState, 'pending'>
  readonly error: string | null
  /** The newest attempt. */
  readonly at: number
  readonly agents: readonly number[]
}

/** Returns the list with these exceptions added; an agent's earlier ones are replaced. */
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

/** An agent that has not completed its part yet. */
export interface PendingAgent {
  /** Not connected, locked or read-only. */
  readonly isAway: boolean
  /** Its last attempt could not connect to the cache. */
  readonly hasTrouble: boolean
}

/** States of an open entry. */
export function judgeOpenState(pending: readonly PendingAgent[]): InvalidationState {
  if (pending.length > 0 && pending.every(({ isAway }) => isAway)) return invalidationStates.Waiting
  if (pending.some(({ isAway, hasTrouble }) => !isAway && hasTrouble))
    return invalidationStates.Retrying
  return invalidationStates.Running
}
