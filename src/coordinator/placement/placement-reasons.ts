/** Explains why each agent was or was not chosen for a group: `GET /vclgroups/{id}/placement` (docs/behaviour.md, Placement). */
import type { IndexedAgent } from '../fleet/agent-index.js'
import { agentStateName, agentStates } from '../../resources/agent-state.js'
import { movingReason, stayingReason } from '../../resources/draining.js'
import { findConflict } from '../fleet/placement-conflict.js'
import { groupBy } from '../../group-by.js'
import { unfitReason, type PlacementDecision } from './placement.js'
import type { HeldPlacement, PlacementInput } from '../fleet/placement-input.js'
import { isFitting, type PlacementTarget } from '../fleet/placement-target.js'

interface PlacementRow {
  readonly agentId: number
  /** The deployment that a chosen agent is chosen for; otherwise the first that it fits, null if none. */
  readonly deploymentId: number | null
  readonly chosen: boolean
  readonly reason: string
}

interface Words {
  readonly chosen: string
  readonly left: string
  readonly unfit: string
}

const words: Readonly<Record<PlacementTarget['kind'], Words>> = {
  tags: {
    /** Without a number: on a shared agent it would reveal how many groups other owners have there. */
    chosen:
      'it has all tags: of the agents that have, those with the fewest groups are taken first',
    left: unfitReason,
    unfit: 'it does not have all tags of any deployment',
  },
  members: {
    chosen: 'it is in the group',
    left: 'it is no longer in the group',
    unfit: 'it is not in the group',
  },
}

/** Returns one row for each agent of the index, ordered by id. */
export function explainPlacement(
  input: PlacementInput,
  decision: PlacementDecision,
): PlacementRow[] {
  const deployments = input.group.deployments.toSorted((a, b) => a.id - b.id)
  const { chosen, left, unfit } = words[deployments[0]?.target.kind ?? 'tags']
  const kept = new Map(decision.keep.map((place) => [place.agentId, place.deploymentId]))
  const added = new Map(decision.add.map((place) => [place.agentId, place.deploymentId]))
  const removed = new Map(
    decision.remove.map(({ agentId, reason }) => [agentId, reason === unfitReason ? left : reason]),
  )
  for (const { agentId } of decision.waiting)
    removed.set(agentId, waitingReason(input.agents.byId.get(agentId)))
  const moving = new Set(decision.moving.map(({ agentId }) => agentId))
  const replaced = groupBy(decision.replaced, ({ agentId }) => agentId)
  return [...input.agents.byId.values()]
    .toSorted((a, b) => a.id - b.id)
    .map((agent) => {
      const agentId = agent.id
      const deploymentId = kept.get(agentId) ?? added.get(agentId)
      if (deploymentId !== undefined) {
        const reason =
          describeTaking(input, replaced.get(agentId)) ??
          (kept.has(agentId) ? describeStay(input, agent, moving) : chosen)
        return { agentId, deploymentId, chosen: true, reason }
      }
      const fitting = deployments.find(({ target }) => isFitting(agent, target))?.id ?? null
      const reason =
        removed.get(agentId) ?? describeRefusal(input, agent, fitting !== null) ?? unfit
      return { agentId, deploymentId: fitting, chosen: false, reason }
    })
}

/** The reason for a placement on a Down or Locked agent. */
export function waitingReason(agent: Pick<IndexedAgent, 'state'> | undefined): string {
  const state = agentStateName(agent?.state ?? agentStates.Down)
  return `the agent is ${state}; its place is kept until it returns or another agent takes it`
}

/** Returns undefined if no group makes way. */
function describeTaking(
  { nameOf }: PlacementInput,
  replaced: readonly HeldPlacement[] | undefined,
): string | undefined {
  if (replaced === undefined) return undefined
  const names = replaced.map(({ holder }) => JSON.stringify(nameOf?.(holder) ?? String(holder)))
  return `it replaces group ${names.join(' and ')} there`
}

function describeStay(
  { failed }: PlacementInput,
  { id, state, draining }: IndexedAgent,
  moving: ReadonlySet<number>,
): string {
  if (draining === true) return moving.has(id) ? movingReason : stayingReason
  if (failed?.has(id) === true)
    return 'the deployed VCL failed there: it serves its old VCL, and another agent may take its place'
  return state === agentStates.Down
    ? 'the agent went Down with most of the fleet; its place stays until it returns or the group is deployed again'
    : 'it keeps its place'
}

/** Returns null if the agent fits no deployment. */
function describeRefusal(input: PlacementInput, agent: IndexedAgent, fits: boolean): string | null {
  if (input.exclude?.has(agent.id) === true) return 'it is excluded from this deploy'
  if (!fits) return null
  if (agent.state !== agentStates.Running) return `the agent is ${agentStateName(agent.state)}`
  return findConflict(input, agent) ?? 'the deployments that it fits have reached their max'
}
