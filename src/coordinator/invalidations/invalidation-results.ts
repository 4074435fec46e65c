/** Computes the result of an entry on each of its agents from their cursors and the exceptions listed in the entry. */
import {
  isBad,
  judgeOpenState,
  type Exception,
  type InvalidationOutcome,
  type InvalidationState,
  type PendingAgent,
  type ResultState,
} from './invalidation.js'

export interface EntryProgress {
  readonly position: number
  readonly createdAt: number
  readonly outcome: InvalidationOutcome | null
  readonly finishedAt: number | null
  readonly exceptions: readonly Exception[]
}

export interface MemberProgress {
  readonly agentId: number
  readonly name: string
  /** True if the agent cannot be reached now. */
  readonly isAway: boolean
  /** Null if it never received an entry. */
  readonly position: number | null
  readonly movedAt: number | null
  readonly trouble: string | null
}

export interface AgentResult {
  readonly agent: { readonly id: number; readonly name: string }
  readonly state: ResultState
  /** Why it failed, is uncertain, or has not succeeded yet. */
  readonly error: string | null
  /** Time by which it was done; null while pending. */
  readonly at: number | null
}

export interface InvalidationSummary {
  readonly state: InvalidationState
  readonly done: number
  readonly total: number
}

/** `attempted` are the agents with something to do when the entry got its position. */
export function listResults(
  entry: EntryProgress,
  members: readonly MemberProgress[],
  attempted: ReadonlySet<number>,
): readonly AgentResult[] {
  const exceptions = new Map<number, Exception>()
  for (const exception of entry.exceptions)
    for (const id of exception.agents) exceptions.set(id, exception)
  return members.map((member) => {
    const { agentId: id, name } = member
    const exception = exceptions.get(id)
    const known = exception ?? findResult(entry, member, attempted.has(id))
    return { agent: { id, name }, state: known.state, error: known.error, at: known.at }
  })
}

function findResult(
  { position, createdAt, outcome, finishedAt }: EntryProgress,
  member: MemberProgress,
  isAttempted: boolean,
): Pick<AgentResult, 'state' | 'error' | 'at'> {
  const isPassed = member.position !== null && member.position >= position
  if (outcome === null && isAttempted && !isPassed)
    return { state: 'pending', error: member.trouble, at: null }
  const bounds = [isAttempted && isPassed ? member.movedAt : null, finishedAt].filter(
    (at) => at !== null,
  )
  return { state: 'done', error: null, at: bounds.length === 0 ? createdAt : Math.min(...bounds) }
}

export function summarize(
  { outcome }: EntryProgress,
  members: readonly MemberProgress[],
  results: readonly AgentResult[],
): InvalidationSummary {
  const total = results.length
  const done = results.filter(({ state }) => state === 'done').length
  if (outcome !== null) return { state: outcome, done, total }
  const pending = members
    .filter((_, index) => results[index]?.state === 'pending')
    .map(({ isAway, trouble }) => ({ isAway, hasTrouble: trouble !== null }))
  return { state: judgeOpenState(pending), done, total }
}

/** Data shared by many entries: all agents, and those of an attempt with the slowest first. */
interface SharedProgress {
  readonly memberIds: ReadonlySet<number>
  readonly slowestFirst: readonly MemberProgress[]
}

export function sortBySlowness(members: readonly MemberProgress[]): readonly MemberProgress[] {
  return members.toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0))
}

/** Same result without reading agents that have passed the entry. */
export function summarizeShared(
  { outcome, exceptions, position }: Pick<EntryProgress, 'outcome' | 'exceptions' | 'position'>,
  { memberIds, slowestFirst }: SharedProgress,
): InvalidationSummary {
  const total = memberIds.size
  const bad = exceptions.filter(isBad).flatMap(({ agents }) => agents)
  const failed = bad.filter((id) => memberIds.has(id)).length
  if (outcome !== null) return { state: outcome, done: total - failed, total }
  const known = new Set(exceptions.flatMap(({ agents }) => agents))
  const pending: PendingAgent[] = []
  for (const member of slowestFirst) {
    if ((member.position ?? 0) >= position) break
    if (known.has(member.agentId)) continue
    pending.push({ isAway: member.isAway, hasTrouble: member.trouble !== null })
  }
  return { state: judgeOpenState(pending), done: total - failed - pending.length, total }
}
