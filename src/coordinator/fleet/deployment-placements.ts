/** Placements of groups by deployment: the basis of a deployment's state and agents. */
import type { AgentState } from '../../resources/agent-state.js'
import { noDeployment } from './placement-input.js'
import type { PlacementState } from './vcl-group.js'
import { inPieces } from '../store/in-pieces.js'
import type { Queries } from '../store/store.js'
import { parseRelease } from './group-queries.js'

/** A group that refers to a deployment. */
export interface DeploymentUse {
  readonly deploymentId: number
  readonly groupId: number
  /** The group was deployed with it; a deployment added since then takes effect at the next deploy. */
  readonly deployed: boolean
  /** A deploy of the group is in progress. */
  readonly deploying: boolean
}

export interface DeploymentPlacementRow {
  readonly deploymentId: number
  readonly groupId: number
  readonly agentId: number
  readonly agentName: string
  readonly agentState: AgentState
  /** When the agent entered that state. */
  readonly agentSince: number
  readonly error: string | null
  /** A pending candidate is shown as applying, whatever VCL serves meanwhile. */
  readonly state: PlacementState
  /** False: its VCL failed before it ever served. */
  readonly held: boolean
}

export async function readDeploymentUses(
  queries: Queries,
  deploymentIds: readonly number[],
): Promise<DeploymentUse[]> {
  return inPieces(deploymentIds, async (ids) => {
    const rows = await queries
      .selectFrom('vclGroupDeployments')
      .innerJoin('vclGroups', 'vclGroups.id', 'vclGroupDeployments.groupId')
      .leftJoin('deploys', (join) =>
        // A stage belongs to no deployment.
        join.onRef('deploys.groupId', '=', 'vclGroups.id').on('deploys.action', '!=', 'stage'),
      )
      .select(['vclGroupDeployments.deploymentId', 'vclGroups.id as groupId', 'vclGroups.wish'])
      .select('deploys.id as deployId')
      .where('vclGroupDeployments.deploymentId', 'in', ids)
      .execute()
    return rows.map(({ deployId, wish, ...row }) => ({
      ...row,
      deployed: parseRelease(wish)?.deploymentIds.includes(row.deploymentId) ?? false,
      deploying: deployId !== null,
    }))
  })
}

export async function readDeploymentPlacements(
  queries: Queries,
  deploymentIds: readonly number[],
): Promise<DeploymentPlacementRow[]> {
  return inPieces(deploymentIds, async (ids) => {
    const rows = await queries
      .selectFrom('placements')
      .innerJoin('agents', 'agents.id', 'placements.agentId')
      .select(['placements.deploymentId', 'placements.groupId', 'placements.state'])
      .select(['placements.error', 'agents.lastStateChangeAt as agentSince'])
      .select(['placements.currentName', 'placements.candidateName', 'placements.candidateState'])
      .select(['agents.id as agentId', 'agents.name as agentName', 'agents.state as agentState'])
      .where('placements.deploymentId', 'in', ids)
      .orderBy('agents.id')
      .execute()
    return rows.map(({ currentName, candidateName, candidateState, ...row }) => ({
      ...row,
      deploymentId: row.deploymentId ?? noDeployment,
      agentState: row.agentState as AgentState, // written from stateOfLiveAgent and markSilentDown only
      // Written by savePlacements and the report recorder only.
      state: candidateState === 'pending' ? 'applying' : (row.state as PlacementState),
      held: currentName !== null || candidateName !== null,
    }))
  })
}

/** Returns the deployments whose tags an agent has, all of them and in any agent state. */
export async function readFittingDeployments(
  queries: Queries,
  deploymentIds: readonly number[],
): Promise<number[]> {
  return inPieces(deploymentIds, async (ids) => {
    const rows = await queries
      .selectFrom('deployments')
      .innerJoin('deploymentTags', 'deploymentTags.deploymentId', 'deployments.id')
      .innerJoin('agentTags', 'agentTags.tagId', 'deploymentTags.tagId')
      .innerJoin('agents', 'agents.id', 'agentTags.agentId')
      .select('deployments.id')
      .distinct()
      .where('deployments.id', 'in', ids)
      .where((e) =>
        e.or([
          e('agents.organizationId', 'is', null),
          e('agents.organizationId', '=', e.ref('deployments.organizationId')),
          // The system administrator's own deployments can use every agent.
          e('deployments.organizationId', 'is', null),
        ]),
      )
      .groupBy(['deployments.id', 'agents.id'])
      .having(
        (e) => e.fn.countAll<number>(),
        '=',
        (e) =>
          e
            .selectFrom('deploymentTags as wanted')
            .select((w) => w.fn.countAll<number>().as('count'))
            .whereRef('wanted.deploymentId', '=', 'deployments.id'),
      )
      .execute()
    return rows.map((row) => row.id)
  })
}
