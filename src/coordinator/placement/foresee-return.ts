/**
 * Computes the desired state that a cache would get if its agent accepted changes again: each group and stage that fits it is
 * placed again over the current fleet, in the order of a reconcile run. Nothing is stored or changed. Only the caller waits: a
 * large fleet is read in stretches, so that other requests are served meanwhile.
 */
import { setImmediate as servedOthers } from 'node:timers/promises'
import { holderId, indexAgents, recordPlacement, type IndexedAgent } from '../fleet/agent-index.js'
import { agentStates } from '../../resources/agent-state.js'
import { composeDesired, type DesiredEngine } from '../../vcl/desired-engine.js'
import { groupBy } from '../../group-by.js'
import { programOf } from '../fleet/vcl-group.js'
import { readSettings } from '../fleet/setting-queries.js'
import { isUsableBy, readFleet, readFleetInStretches, type FleetAgent } from '../fleet/fleet.js'
import { readPlacements, type PlacementRecord } from '../fleet/placement-queries.js'
import { isFitting } from '../fleet/placement-target.js'
import { readStages } from '../fleet/stage-queries.js'
import { readDeploymentsInForce } from '../fleet/target-queries.js'
import type { Queries } from '../store/store.js'
import { readDeployedGroupIds, readGroups } from '../fleet/group-queries.js'
import { inPieces } from '../store/in-pieces.js'
import {
  reconcilableGroup,
  reconcilableStage,
  indexByOwner,
  type Reconcilable,
} from './placement-following.js'
import { createPlacement, decideFollowing, switchPlacement, type PlacingInput } from './placing.js'

/** `adopting`: the VCL that the cache runs would be adopted first, so that nothing new is placed there. */
export async function foreseeReturn(
  queries: Queries,
  agentId: number,
  { adopting }: { readonly adopting: boolean },
): Promise<DesiredEngine> {
  const [found] = await readFleet(queries, { kind: 'all' }, { afterId: agentId - 1, limit: 1 })
  const isThere = found?.id === agentId
  const places = isThere
    ? await foreseePlaces(queries, { ...found, state: agentStates.Running, adopting })
    : []
  const settings = await readSettings(queries, [agentId], new Map([[agentId, places]]))
  return { ...composeDesired(places).desired, ...settings.get(agentId) }
}

async function foreseePlaces(
  queries: Queries,
  agent: FleetAgent,
): Promise<readonly PlacementRecord[]> {
  const [indexed] = indexAgents([agent]).agents
  const fitting = (await readFollowed(queries)).filter(
    (one) => indexed && concerns(one, indexed, agent.organizationId),
  )
  if (fitting.length === 0) return []
  const { fleet, placements } = await readRivals(queries, agent, fitting)
  const indexes = await indexByOwner(fitting, fleet)
  const places: PlacementRecord[] = []
  for (const followed of fitting) {
    const { organizationId, release } = followed
    const before = placements.get(holderId(followed)) ?? []
    const program = programOf(release)
    const input: PlacingInput = {
      group: {
        id: followed.groupId,
        domains: release.domains,
        releases: release.releases,
        stage: release.stage,
      },
      deployments: followed.deployments,
      agents: indexes.get(organizationId) ?? indexAgents([]),
      placements: before,
      wanted: program,
    }
    const decision = await decideFollowing(queries, input)
    if (followed.deployPending && decision.shortages.length > 0) continue
    const placed = { id: holderId(followed), root: program.fqdns === null }
    const { add, remove } = decision
    for (const index of indexes.values())
      recordPlacement(index, { ...placed, fqdns: program.fqdns ?? [] }, { add, remove })
    const isKept = decision.keep.some(({ agentId }) => agentId === agent.id)
    const held = before.find(({ agentId }) => agentId === agent.id)
    const added = add.find(({ agentId }) => agentId === agent.id)
    const { revision } = followed
    if (isKept && held) places.push(switchPlacement(held, revision))
    else if (added) {
      const group = { id: followed.groupId, organizationId }
      const place = createPlacement({ ...added, group, stage: followed.stage, revision, program })
      places.push(switchPlacement(place, revision))
    }
    await servedOthers()
  }
  return places
}

/** Returns the agents that have or may get a placement of these groups, and these placements. */
async function readRivals(
  queries: Queries,
  agent: FleetAgent,
  fitting: readonly Reconcilable[],
): Promise<{
  readonly fleet: readonly FleetAgent[]
  readonly placements: ReadonlyMap<number, readonly PlacementRecord[]>
}> {
  const groupIds = [...new Set(fitting.map(({ groupId }) => groupId))]
  const holders = new Set(fitting.map(holderId))
  const targets = fitting.flatMap(({ deployments }) => deployments.map(({ target }) => target))
  const tagIds = new Set(targets.flatMap((one) => (one.kind === 'tags' ? one.tagIds : [])))
  const fleet: FleetAgent[] = []
  const placements: PlacementRecord[] = []
  for await (const agents of readFleetInStretches(queries, { kind: 'all' })) {
    const rivals = agents.filter(
      (one) =>
        one.tagIds.some((id) => tagIds.has(id)) ||
        [one.memberOf ?? 0, ...one.groupIds].some((id) => holders.has(id)),
    )
    const agentIds = rivals.map(({ id }) => id)
    fleet.push(...rivals.map((one) => (one.id === agent.id ? agent : one)))
    if (rivals.length > 0)
      placements.push(...(await readPlacements(queries, { groupIds, agentIds })))
  }
  return { fleet, placements: groupBy(placements, holderId) }
}

/** The number of groups read by one statement. */
const groupsAtOnce = 100

/** Returns groups, then stages, as a reconcile run does: stages take no agent from groups. */
async function readFollowed(queries: Queries): Promise<readonly Reconcilable[]> {
  const groupIds = await readDeployedGroupIds(queries)
  const read = async (ids: readonly number[]) => {
    await servedOthers()
    return readGroups(queries, { kind: 'all' }, { ids, deployed: true })
  }
  const groups = await inPieces(groupIds, read, groupsAtOnce)
  const deployments = await readDeploymentsInForce(queries, groups)
  const stages = await readStages(queries)
  return [
    ...groups.flatMap((group) => reconcilableGroup({ deployments }, group) ?? []),
    ...stages.map(reconcilableStage),
  ]
}

/** True if it is placed on the agent, or may be: the agent is its owner's or shared, and fits. */
function concerns(
  followed: Reconcilable,
  agent: IndexedAgent,
  organizationId: number | null,
): boolean {
  if (agent.groupIds.has(holderId(followed))) return true
  const isUsable = isUsableBy(followed.organizationId, { organizationId })
  return isUsable && followed.deployments.some(({ target }) => isFitting(agent, target))
}
