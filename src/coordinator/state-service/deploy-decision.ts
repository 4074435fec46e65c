/**
 * The decision of a deploy, in one transaction: the deploy's row goes, and either candidates become current or they
 * are dropped. Whoever deletes the row has decided; a second decision changes nothing.
 */
import type { Context } from '../../context.js'
import { agentStates } from '../../domain/agent-state.js'
import { FleetError } from '../../errors.js'
import { readAgentStates } from '../../store/agent-states.js'
import { deleteDeploy, type DeployRecord } from '../../store/deploys.js'
import { recomposeDesired } from '../../store/desired-states.js'
import { addHistory } from '../../store/history.js'
import {
  deletePlacements,
  readPlacements,
  savePlacements,
  type PlacementRecord,
} from '../../store/placements.js'
import type { Queries } from '../../store/store.js'
import { findGroup, writeWish } from '../../store/vcl-groups.js'
import { tellDesiredChanged } from './agent-hints.js'
import {
  awaitCandidate,
  dropCandidate,
  failPlacement,
  holdsPlace,
  switchPlacement,
} from './placing.js'
import type { StateService } from './service.js'

export type LoadVerdict =
  | { readonly kind: 'switch' }
  | { readonly kind: 'uncompilable' | 'unavailable' | 'conflict'; readonly message: string }

export interface Decided {
  /** What the caller of the deploy is answered; undefined when it was switched. */
  readonly error: FleetError | undefined
}

export async function decideDeploy(
  service: StateService,
  context: Context,
  deploy: DeployRecord,
  verdict: LoadVerdict,
): Promise<Decided> {
  const now = service.now()
  const agentIds = await service.store.decide(async (queries) => {
    if (!(await deleteDeploy(queries, deploy.id))) return undefined
    const placements = await readPlacements(queries, { groupIds: [deploy.groupId] })
    const changes =
      verdict.kind === 'switch' ? await switchAll(queries, deploy, placements) : dropAll(placements)
    await savePlacements(queries, changes.save)
    await deletePlacements(queries, deploy.groupId, changes.leave)
    await addHistory(queries, {
      ...historyOf(deploy, now),
      revision: verdict.kind === 'switch' ? deploy.revision : null,
      result: verdict.kind === 'switch' ? 'ok' : verdict.message,
    })
    return recomposeDesired(
      queries,
      placements.map(({ agentId }) => agentId),
    )
  })
  if (agentIds === undefined)
    return { error: new FleetError('conflict', 'deploy', 'the deploy was decided by another') }
  tellDesiredChanged(service, agentIds, context.traceId)
  const group = deploy.groupId
  if (verdict.kind === 'switch') {
    context.log.info(
      { group, revision: deploy.revision, agents: agentIds.length },
      'deploy: switching',
    )
    return { error: undefined }
  }
  context.log.warn({ group, agents: agentIds.length }, `deploy: discarded: ${verdict.message}`)
  return { error: new FleetError(verdict.kind, 'deploy', verdict.message) }
}

interface Changes {
  readonly save: readonly PlacementRecord[]
  /** Agents that the group leaves. */
  readonly leave: readonly number[]
}

async function switchAll(
  queries: Queries,
  deploy: DeployRecord,
  placements: readonly PlacementRecord[],
): Promise<Changes> {
  const group = await findGroup(queries, { kind: 'all' }, deploy.groupId)
  await writeWish(queries, deploy.groupId, {
    sources: deploy.sources,
    pending: false,
    revision: deploy.revision,
  })
  const agents = await readAgentStates(queries, deploy.groupId)
  const staying = placements.filter((placement) => placement.candidate !== null)
  return {
    save: staying.map((placement) => {
      if (placement.candidateState === 'loaded') return switchPlacement(placement, deploy.revision)
      const isThere = agents.get(placement.agentId)?.state === agentStates.Running
      if (placement.candidateState === 'failed' && isThere)
        return failPlacement(placement, group?.keepOnFailure ?? true)
      // Still loading, or away: it switches when it has loaded (placement-following.ts).
      return {
        ...awaitCandidate(placement),
        wantedRevision: deploy.revision,
        state: 'wanted',
      }
    }),
    leave: placements.filter(({ candidate }) => candidate === null).map(({ agentId }) => agentId),
  }
}

function dropAll(placements: readonly PlacementRecord[]): Changes {
  const dropped = placements.map((placement) =>
    placement.candidate === null ? placement : dropCandidate(placement),
  )
  return {
    save: dropped.filter(holdsPlace),
    leave: dropped.filter((placement) => !holdsPlace(placement)).map(({ agentId }) => agentId),
  }
}

function historyOf(deploy: DeployRecord, at: number) {
  const { groupId, organizationId, account, action, sources } = deploy
  return { groupId, organizationId, account, action, sources, at }
}
