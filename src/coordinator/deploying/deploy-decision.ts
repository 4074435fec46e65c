/**
 * The decision of a deploy, in one transaction: the deploy's row goes, and either candidates become current or they
 * are dropped. Whoever deletes the row has decided; a second decision changes nothing.
 */
import type { Context } from '../../context.js'
import { agentStates } from '../../resources/agent-state.js'
import { isStaged } from '../fleet/stage.js'
import { FleetError } from '../../errors.js'
import { relateBranch } from '../files/branch-queries.js'
import { readAgentStates } from '../fleet/state-queries.js'
import { deleteDeploy, holderOf, type DeployRecord } from '../fleet/deploy-queries.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import { addHistory } from '../fleet/history-queries.js'
import {
  deletePlacements,
  readPlacements,
  savePlacements,
  type PlacementRecord,
} from '../fleet/placement-queries.js'
import { readReplaced, releaseReplaced, takeReplaced } from '../fleet/replaced-places.js'
import { findStage, replaceUses, writeStage } from '../fleet/stage-queries.js'
import type { NamedReference } from '../store/owner.js'
import type { Queries } from '../store/store.js'
import { findGroup, writeWish, type GroupRecord } from '../fleet/group-queries.js'
import { tellDesiredChanged } from '../agents/agent-hints.js'
import {
  awaitCandidate,
  dropCandidate,
  failPlacement,
  holdsPlace,
  switchPlacement,
} from '../placement/placing.js'
import { findSwitched, undeployPlaceless } from '../placement/replacing.js'
import { explainEnd } from './deploy-end.js'
import { promoteStage } from './stage-end.js'
import type { StateService } from '../service.js'

export type LoadVerdict =
  | { readonly kind: 'switch' }
  | {
      readonly kind: 'uncompilable' | 'unavailable' | 'conflict'
      readonly message: string
      /** Too few agents were left, which may return: late agents get it (choices: 3, Placement). */
      readonly keepsWish?: boolean
      /** What was said by each agent that refused it, in the author's lines. */
      readonly failures?: ReadonlyMap<number, string>
    }

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
    if (!(await deleteDeploy(queries, deploy))) return undefined
    const group = await findGroup(queries, { kind: 'all' }, deploy.groupId)
    if (!group) throw new Error(`group ${deploy.groupId} was deleted during its deploy`)
    const placements = await readPlacements(queries, {
      groupIds: [deploy.groupId],
      stage: holderOf(deploy).stage,
    })
    const changes =
      verdict.kind === 'switch'
        ? await switchAll(queries, deploy, { group, placements, now })
        : dropAll(placements)
    if (verdict.kind !== 'switch') await keepWhatWas(queries, deploy, { group, verdict })
    const isSwitch = verdict.kind === 'switch' && deploy.action !== 'stage'
    const ids = isSwitch ? await takeReplaced(queries, group.id, findSwitched(changes.save)) : []
    await savePlacements(queries, changes.save)
    await deletePlacements(queries, holderOf(deploy), changes.leave)
    // Where it is not to be loaded any more the others keep their places.
    await releaseReplaced(queries)
    const by = { id: group.id, name: group.name }
    const replaced = isSwitch ? await readReplaced(queries, group.id, ids) : []
    await undeployPlaceless(queries, { ids, by, account: deploy.account, now })
    await noteDecision(queries, deploy, { group, verdict, replaced, now })
    const agentIds = [...placements.map(({ agentId }) => agentId), ...changes.freed]
    return recomposeDesired(queries, [...new Set(agentIds)])
  })
  if (agentIds === undefined) return { error: await explainEnd(service, deploy) }
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
  return { error: new DeployDiscarded(verdict.kind, verdict.message, verdict.failures) }
}

interface NotedDecision {
  readonly group: GroupRecord
  readonly verdict: LoadVerdict
  readonly replaced: readonly NamedReference[]
  readonly now: number
}

/** What is deployed already went where it was not: nothing to tell, unless others made way for it. */
async function noteDecision(
  queries: Queries,
  deploy: DeployRecord,
  { group, verdict, replaced, now }: NotedDecision,
): Promise<void> {
  const outcome =
    verdict.kind === 'switch'
      ? { revision: deploy.action === 'stage' ? group.revision : deploy.revision, result: 'ok' }
      : { revision: null, result: verdict.message }
  if (outcome.revision !== null && replaced.length === 0 && isRepeated(deploy, group)) return
  const entry = {
    ...historyOf(deploy, now),
    ...outcome,
    ...(replaced.length > 0 && { replaced }),
  }
  await addHistory(queries, entry, deploy.id)
}

/** For those who tell of each cache by itself. */
export class DeployDiscarded extends FleetError {
  constructor(
    kind: FleetError['kind'],
    message: string,
    readonly failures: ReadonlyMap<number, string> = new Map(),
  ) {
    super(kind, 'deploy', message)
  }
}

interface Changes {
  readonly save: readonly PlacementRecord[]
  /** Agents that the group leaves. */
  readonly leave: readonly number[]
  /** Agents that a promoted stage leaves. */
  readonly freed: readonly number[]
}

interface Switched {
  readonly group: GroupRecord
  readonly placements: readonly PlacementRecord[]
  readonly now: number
}

async function switchAll(
  queries: Queries,
  deploy: DeployRecord,
  { group, placements, now }: Switched,
): Promise<Changes> {
  const { groupId, organizationId, revision, sources } = deploy
  const isStage = isStaged(sources)
  if (isStage) await writeStage(queries, { groupId, organizationId, revision, sources }, now)
  else await writeWish(queries, groupId, { sources, pending: false, revision })
  if (group.console) await relateBranch(queries, groupId, sources.mainVCL.id, now)
  const freed = deploy.action === 'promote' ? await promoteStage(queries, group, now) : []
  const agents = await readAgentStates(queries, deploy.groupId)
  const staying = placements.filter((placement) => placement.candidate !== null)
  return {
    save: staying.map((placement) => {
      if (placement.candidateState === 'loaded') return switchPlacement(placement, deploy.revision)
      const isThere = agents.get(placement.agentId)?.state === agentStates.Running
      const { candidateState, error } = placement
      // Or it said why it cannot load it: who waits for it might wait for ever.
      const hasFailed =
        candidateState === 'failed' || (candidateState === 'pending' && error !== null)
      if (hasFailed && isThere) return failPlacement(placement, isStage || group.keepOnFailure)
      // Still loading, or away: it switches when it has loaded (placement-following.ts).
      return {
        ...awaitCandidate(placement),
        wantedRevision: deploy.revision,
        state: 'wanted',
      }
    }),
    leave: placements
      .filter(({ candidate, replacedBy }) => candidate === null && replacedBy === null)
      .map(({ agentId }) => agentId),
    freed,
  }
}

interface Dropped {
  readonly group: GroupRecord
  readonly verdict: Exclude<LoadVerdict, { readonly kind: 'switch' }>
}

/** A stage that fails leaves the one before it; a promote that fails keeps no wish. */
async function keepWhatWas(
  queries: Queries,
  { action, groupId, sources, revision }: DeployRecord,
  { group, verdict }: Dropped,
): Promise<void> {
  if (action === 'stage') {
    const stage = await findStage(queries, groupId)
    await replaceUses(queries, groupId, stage ? [stage.sources] : [])
  } else if (
    action !== 'promote' &&
    verdict.keepsWish === true &&
    !isRepeated({ action, revision }, group)
  )
    await writeWish(queries, groupId, { sources, pending: true, revision: group.revision })
}

function dropAll(placements: readonly PlacementRecord[]): Changes {
  const dropped = placements.map((placement) =>
    placement.candidate === null ? placement : dropCandidate(placement),
  )
  return {
    save: dropped.filter(holdsPlace),
    leave: dropped.filter((placement) => !holdsPlace(placement)).map(({ agentId }) => agentId),
    freed: [],
  }
}

/** What is deployed already was to go where it is not: it makes no revision. */
function isRepeated(
  { action, revision }: Pick<DeployRecord, 'action' | 'revision'>,
  group: Pick<GroupRecord, 'revision'>,
): boolean {
  return action !== 'stage' && revision === group.revision
}

function historyOf(deploy: DeployRecord, at: number) {
  const { groupId, organizationId, account, action, sources } = deploy
  return { groupId, organizationId, account, action, sources, at }
}
