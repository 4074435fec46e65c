/**
 * Ranks the agents that fit: the fewest groups first, then by a hash that never changes
 * (docs/behaviour.md, Placement).
 */
import type { AgentIndex, IndexedAgent } from '../fleet/agent-index.js'

/** Returns at most `limit` of the agents that may be taken, the best first. */
export function chooseBest(
  index: AgentIndex,
  slots: readonly number[],
  order: Order,
  mayTake: (agent: IndexedAgent) => boolean,
): IndexedAgent[] {
  if (order.limit === 0) return []
  if (order.limit >= slots.length) return sortAll(index, slots, order, mayTake)
  // Usually all of the best may be taken: `mayTake` is then not called for agents that better ones displace.
  const best = rankSome(index, slots, order, () => true)
  return best.every(mayTake) ? best : rankSome(index, slots, order, mayTake)
}

/** Calls `mayTake` only for agents that would be among the best so far. */
function rankSome(
  { agents, ids, groupCounts }: AgentIndex,
  slots: readonly number[],
  { groupId, limit }: Order,
  mayTake: (agent: IndexedAgent) => boolean,
): IndexedAgent[] {
  const best: Ranked[] = []
  // The last of a full list; in a large fleet the comparison with it rules out nearly all agents.
  let worst: Omit<Ranked, 'agent'> = { groupCount: Infinity, hash: Infinity }
  for (const slot of slots) {
    const groupCount = groupCounts[slot] ?? 0
    if (groupCount > worst.groupCount) continue
    const hash = hashPair(groupId, ids[slot] ?? 0)
    if (groupCount === worst.groupCount && hash > worst.hash) continue
    const agent = agents[slot]
    if (!agent || !mayTake(agent)) continue
    insertRanked(best, { agent, groupCount, hash }, limit)
    worst = best[limit - 1] ?? worst
  }
  return best.map(({ agent }) => agent)
}

interface Order {
  readonly groupId: number
  readonly limit: number
}

function sortAll(
  { agents, groupCounts }: AgentIndex,
  slots: readonly number[],
  { groupId }: Order,
  mayTake: (agent: IndexedAgent) => boolean,
): IndexedAgent[] {
  const ranked: Ranked[] = []
  for (const slot of slots) {
    const agent = agents[slot]
    if (!agent || !mayTake(agent)) continue
    ranked.push({ agent, groupCount: groupCounts[slot] ?? 0, hash: hashPair(groupId, agent.id) })
  }
  return ranked.sort((a, b) => (isBefore(a, b) ? -1 : 1)).map(({ agent }) => agent)
}

interface Ranked {
  readonly agent: IndexedAgent
  readonly groupCount: number
  readonly hash: number
}

/** Keeps the `limit` best in order. A loop moves the few entries, because each `splice` would allocate an array. */
function insertRanked(best: Ranked[], item: Ranked, limit: number): void {
  let at = best.length
  for (let before = best[at - 1]; before && isBefore(item, before); before = best[at - 1])
    best[at--] = before
  best[at] = item
  if (best.length > limit) best.pop()
}

function isBefore(a: Ranked, b: Ranked): boolean {
  if (a.groupCount !== b.groupCount) return a.groupCount < b.groupCount
  return a.hash < b.hash || (a.hash === b.hash && a.agent.id < b.agent.id)
}

/** A 31-bit integer hash (the finalizer of MurmurHash3), so that groups spread over otherwise equal agents. */
export function hashPair(groupId: number, agentId: number): number {
  let hash = Math.imul(groupId, 0x9e3779b1) ^ Math.imul(agentId, 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 1
}
