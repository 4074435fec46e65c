/** The placements of a group during its rollout, with their agents: what the choice of the next step needs. */
import { setImmediate as servedOthers } from 'node:timers/promises'
import { agentStates, type AgentState } from '../../resources/agent-state.js'
import type { PlacementRecord } from '../fleet/placement-queries.js'
import { toProgram } from '../fleet/placement-rows.js'
import { noDeployment } from '../fleet/placement-input.js'
import type { PlacementState } from '../fleet/vcl-group.js'
import type { Queries } from '../store/store.js'

/** The fields that show how far an agent is. */
export type PlaceProgress = Pick<PlacementRecord, 'current' | 'candidate' | 'state' | 'error'>

export interface SeenPlace extends PlaceProgress {
  readonly agentId: number
  readonly deploymentId: number
  readonly agentName: string
  readonly agentState: AgentState
}

/** A piece of this size is read in a few milliseconds. */
const placesAtOnce = 1000

/** Returns the placements by agent; other callers are served between the pieces of a large group. */
export async function readSeenPlaces(
  queries: Queries,
  groupId: number,
): Promise<ReadonlyMap<number, SeenPlace>> {
  const places = new Map<number, SeenPlace>()
  let last = 0
  for (;;) {
    const rows = await selectPlaces(queries, groupId)
      .select(['placements.agentId', 'placements.deploymentId', 'agents.name', 'agents.state'])
      .select(['placements.state as placeState', 'placements.error'])
      .select(['currentName', 'currentSha', 'currentFqdns'])
      .select(['candidateName', 'candidateSha', 'candidateFqdns'])
      .where('placements.agentId', '>', last)
      .orderBy('placements.agentId')
      .limit(placesAtOnce)
      .execute()
    for (const { agentId, deploymentId, name, state, placeState, error, ...programs } of rows)
      places.set(agentId, {
        agentId,
        deploymentId: deploymentId ?? noDeployment,
        agentName: name,
        // Only the use cases write states.
        agentState: state as AgentState,
        state: placeState as PlacementState,
        current: toProgram(programs.currentName, programs.currentSha, programs.currentFqdns),
        candidate: toProgram(
          programs.candidateName,
          programs.candidateSha,
          programs.candidateFqdns,
        ),
        error,
      })
    if (rows.length < placesAtOnce) return places
    last = rows.at(-1)?.agentId ?? last
    await servedOthers()
  }
}

/** Whether a connected agent is to switch and has not reported yet that it did. */
export async function isAnySwitching(queries: Queries, groupId: number): Promise<boolean> {
  const row = await selectPlaces(queries, groupId)
    .select('placements.agentId')
    .where('placements.state', '=', 'applying')
    .where('agents.state', '=', agentStates.Running)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

function selectPlaces(queries: Queries, groupId: number) {
  return queries
    .selectFrom('placements')
    .innerJoin('agents', 'agents.id', 'placements.agentId')
    .where('placements.groupId', '=', groupId)
    .where('placements.stage', '=', 0)
}
