/** Why each agent was chosen for a group or not: `GET /vclgroups/{id}/placement` (choices: 3). */
import { isFitting, type IndexedAgent } from './agent-index.js'
import { agentStateName, agentStates } from './agent-state.js'
import { findConflict, type PlacementDecision, type PlacementInput } from './placement.js'

export interface PlacementRow {
  readonly agentId: number
  /** Of a chosen agent its own; otherwise the first that it fits, null for none. */
  readonly deploymentId: number | null
  readonly chosen: boolean
  readonly reason: string
}

/** One row for each agent of the index, by id. */
export function explainPlacement(
  input: PlacementInput,
  decision: PlacementDecision,
): PlacementRow[] {
  const kept = new Map(decision.keep.map((place) => [place.agentId, place.deploymentId]))
  const added = new Map(decision.add.map((place) => [place.agentId, place.deploymentId]))
  const removed = new Map(decision.remove.map((place) => [place.agentId, place.reason]))
  for (const { agentId } of decision.waiting)
    removed.set(agentId, 'the agent is Down; its place waits for it until another takes it')
  const deployments = input.group.deployments.toSorted((a, b) => a.id - b.id)
  return [...input.agents.byId.values()]
    .toSorted((a, b) => a.id - b.id)
    .map((agent) => {
      const agentId = agent.id
      const deploymentId = kept.get(agentId) ?? added.get(agentId)
      if (deploymentId !== undefined) {
        const reason = kept.has(agentId) ? describeStay(input, agent) : chosenReason
        return { agentId, deploymentId, chosen: true, reason }
      }
      const fitting = deployments.find(({ tagIds }) => isFitting(agent, tagIds))?.id ?? null
      const reason = removed.get(agentId) ?? describeRefusal(input, agent, fitting !== null)
      return { agentId, deploymentId: fitting, chosen: false, reason }
    })
}

function describeStay({ failed }: PlacementInput, { id, state }: IndexedAgent): string {
  if (failed?.has(id) === true)
    return 'what is deployed failed there: it serves its old VCL, and another may fill its place'
  return state === agentStates.Down
    ? 'the agent went Down with most of the fleet; its place stays until it returns or the group is deployed again'
    : 'it keeps its place'
}

/** Chosen by us: without a number: on a shared agent it would tell how many groups others have there. */
const chosenReason =
  'it has all tags: of the agents that have, those with the fewest groups are taken first'

function describeRefusal(input: PlacementInput, agent: IndexedAgent, fits: boolean): string {
  if (input.exclude?.has(agent.id) === true) return 'it is passed over in this deploy'
  if (!fits) return 'it does not have all tags of any deployment'
  if (agent.state !== agentStates.Running) return `the agent is ${agentStateName(agent.state)}`
  return findConflict(input, agent) ?? 'the deployments it fits have their max'
}
