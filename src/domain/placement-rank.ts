/** Which of the agents that fit are taken first: those with the fewest groups, then by a hash that never changes (choices: 3). */
import type { IndexedAgent } from './agent-index.js'

/** At most `limit` of those that may be taken, the best first. `mayTake` is asked only for those that would be among them. */
export function chooseBest(
  agents: readonly IndexedAgent[],
  order: { readonly groupId: number; readonly limit: number },
  mayTake: (agent: IndexedAgent) => boolean,
): IndexedAgent[] {
  const { groupId, limit } = order
  const best: Ranked[] = []
  if (limit === 0) return []
  if (limit >= agents.length) return sortRanked(groupId, agents.filter(mayTake))
  for (const agent of agents) {
    const { groupCount } = agent
    const last = best.length < limit ? undefined : best[limit - 1]
    // In a large fleet these comparisons are the end of it for nearly all.
    if (last && groupCount > last.groupCount) continue
    const hash = hashPair(groupId, agent.id)
    if (last && groupCount === last.groupCount && hash > last.hash) continue
    if (mayTake(agent)) insertRanked(best, { agent, groupCount, hash }, limit)
  }
  return best.map(({ agent }) => agent)
}

function sortRanked(groupId: number, agents: readonly IndexedAgent[]): IndexedAgent[] {
  return agents
    .map((agent) => toRanked(groupId, agent))
    .sort((a, b) => (isBefore(a, b) ? -1 : 1))
    .map(({ agent }) => agent)
}

function toRanked(groupId: number, agent: IndexedAgent): Ranked {
  return { agent, groupCount: agent.groupCount, hash: hashPair(groupId, agent.id) }
}

interface Ranked {
  readonly agent: IndexedAgent
  readonly groupCount: number
  readonly hash: number
}

/** Keeps the `limit` best in order. Moved by hand: few are, and `splice` makes an array for each. */
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

/** A 31-bit integer hash (the finalizer of MurmurHash3), so that groups of equal agents spread over them. */
function hashPair(groupId: number, agentId: number): number {
  let hash = Math.imul(groupId, 0x9e3779b1) ^ Math.imul(agentId, 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 1
}
