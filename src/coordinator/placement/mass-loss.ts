/**
 * Judges whether agents went Down one by one, or most of the fleet at once: then the network, a building or the coordinator itself
 * failed, and moving all placements to the few remaining agents would make it worse (docs/behaviour.md, Mass loss).
 */
import { agentStates, type AgentState } from '../../resources/agent-state.js'

export interface WatchedAgent {
  readonly id: number
  readonly state: AgentState
  /** Milliseconds since 1970; of a Down agent, when it became Down. */
  readonly lastStateChangeAt: number
}

export interface LossInput {
  /** The whole fleet, of all owners. */
  readonly agents: Iterable<WatchedAgent>
  /** How many of them are not Down but have sent no heartbeat since `findOverdueSince`. */
  readonly overdue: number
  readonly now: number
  readonly heartbeatMs: number
  /** No placement leaves a Down agent before this time: after its own start a coordinator waits for agents to reconnect. */
  readonly graceUntil: number
}

export interface LossJudgement {
  /** Down together with most of the fleet: their placements stay until they return, or a group is deployed again. */
  readonly lost: ReadonlySet<number>
  /** Down for less than a heartbeat interval, or before `graceUntil`: others may follow, so nothing is moved yet. */
  readonly settling: ReadonlySet<number>
  /** When to check again if nothing changes before; null: not needed. */
  readonly againAt: number | null
}

/** docs/behaviour.md, Mass loss. */
const smallestFleet = 5
const togetherHeartbeats = 3
const overdueHeartbeats = 2.5

/** An agent whose last heartbeat is older than this counts as about to be Down. */
export function findOverdueSince(now: number, heartbeatMs: number): number {
  return now - overdueHeartbeats * heartbeatMs
}

export function judgeLoss({
  agents,
  overdue,
  now,
  heartbeatMs,
  graceUntil,
}: LossInput): LossJudgement {
  const down: WatchedAgent[] = []
  let fleet = 0
  for (const agent of agents) {
    fleet++
    if (agent.state === agentStates.Down) down.push(agent)
  }
  const settling = new Set<number>()
  let againAt: number | null = null
  for (const { id, lastStateChangeAt } of down) {
    const settledAt = Math.max(lastStateChangeAt + heartbeatMs, graceUntil)
    if (settledAt <= now) continue
    settling.add(id)
    againAt = Math.min(againAt ?? settledAt, settledAt)
  }
  const limit = fleet >= smallestFleet ? fleet / 2 : Number.POSITIVE_INFINITY
  const lost = findTogether(down, {
    overdue,
    now,
    limit,
    withinMs: togetherHeartbeats * heartbeatMs,
  })
  return { lost, settling, againAt }
}

/** Returns every agent in a window of `withinMs` with more than `limit` agents; overdue agents count as Down now. */
function findTogether(
  down: readonly WatchedAgent[],
  window: {
    readonly overdue: number
    readonly now: number
    readonly limit: number
    readonly withinMs: number
  },
): ReadonlySet<number> {
  const { overdue, now, limit, withinMs } = window
  const sorted = down.toSorted((a, b) => a.lastStateChangeAt - b.lastStateChangeAt)
  const lost = new Set<number>()
  let end = 0
  for (const [start, { lastStateChangeAt: from }] of sorted.entries()) {
    while ((sorted[end]?.lastStateChangeAt ?? Number.POSITIVE_INFINITY) <= from + withinMs) end++
    const count = end - start + (now <= from + withinMs ? overdue : 0)
    if (count > limit) for (const { id } of sorted.slice(start, end)) lost.add(id)
  }
  return lost
}
