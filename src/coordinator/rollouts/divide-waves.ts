/** Divides agents into waves by the rules of the policy, in the order of a stable hash of group and agent. Pure. */
import type { WaveRule } from '../../resources/rollout.js'
import { hashPair } from '../placement/placement-rank.js'

interface AgentToSwitch {
  readonly id: number
  readonly tagIds: readonly number[]
  /** It serves nothing of the group yet, so it has no release to go back to: it belongs to the last wave. */
  readonly isNew: boolean
}

interface PlannedWave {
  readonly agentIds: readonly number[]
  /** After its bake the rollout pauses until a user advances it. */
  readonly holds: boolean
}

/** Each agent is in one wave; no wave is empty. Agents that no rule takes form one last wave. */
export function divideIntoWaves(
  rules: readonly WaveRule[],
  groupId: number,
  agents: readonly AgentToSwitch[],
): readonly PlannedWave[] {
  const ordered = agents.toSorted(
    (a, b) => hashPair(groupId, a.id) - hashPair(groupId, b.id) || a.id - b.id,
  )
  const left = new Map(ordered.filter(({ isNew }) => !isNew).map((agent) => [agent.id, agent]))
  const placed = left.size
  const waves: PlannedWave[] = []
  for (const rule of rules) {
    const agentIds = takeBy(rule, [...left.values()], placed)
    for (const id of agentIds) left.delete(id)
    if (agentIds.length > 0) waves.push({ agentIds, holds: rule.agents !== undefined })
  }
  const rest = ordered.filter(({ id, isNew }) => isNew || left.has(id)).map(({ id }) => id)
  return rest.length === 0 ? waves : [...waves, { agentIds: rest, holds: false }]
}

/** `placed`: the total number of placed agents, to which `count` and `percent` refer. */
function takeBy(
  { count, percent, tags, agents }: WaveRule,
  left: readonly AgentToSwitch[],
  placed: number,
): readonly number[] {
  const ids = (chosen: readonly AgentToSwitch[]): readonly number[] => chosen.map(({ id }) => id)
  if (tags) return ids(left.filter(({ tagIds }) => tags.every(({ id }) => tagIds.includes(id))))
  if (agents) return ids(left.filter((agent) => agents.some(({ id }) => id === agent.id)))
  const total = count ?? Math.ceil((placed * (percent ?? 100)) / 100)
  const taken = placed - left.length
  return ids(left.slice(0, Math.max(0, total - taken)))
}
