/**
 * The decision of a deploy, in one transaction: the deploy's row is deleted, and the candidates either become current or
 * are dropped. The transaction that deletes the row decides; a second decision changes nothing.
 */
import type { Context } from '../../context.js'
import { FleetError } from '../../errors.js'
import { agentStates } from '../../resources/agent-state.js'
import { notifyDesiredChanged } from '../agents/agent-hints.js'
import { relateBranch } from '../files/branch-queries.js'
import { deleteDeploy, holderOf, type DeployRecord } from '../fleet/deploy-queries.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import { promoteStage } from '../fleet/end-stage.js'
import { findGroup, writeDesiredRelease, type GroupRecord } from '../fleet/group-queries.js'
import { addHistory, findDeployResult } from '../fleet/history-queries.js'
import {
  deletePlacements,
  readPlacements,
  savePlacements,
  type PlacementRecord,
} from '../fleet/placement-queries.js'
import {
  isReplacing,
  readReplaced,
  releaseReplaced,
  takeReplaced,
} from '../fleet/replaced-placements.js'
import { findStage, replaceUses, writeStage } from '../fleet/stage-queries.js'
import { isStaged } from '../fleet/stage.js'
import { readAgentStates } from '../fleet/state-queries.js'
import {
  awaitCandidate,
  dropCandidate,
  failPlacement,
  holdsPlacement,
  switchPlacement,
} from '../placement/placing.js'
import { findSwitched, undeployUnplaced } from '../placement/replacing.js'
import { beginRollout, failRollout, isRollout } from '../rollouts/begin-rollout.js'
import type { StateService } from '../service.js'
import type { NamedReference } from '../store/owner.js'
import type { Queries } from '../store/store.js'

export type LoadVerdict =
  | { readonly kind: 'switch' }
  | {
      readonly kind: 'uncompilable' | 'unavailable' | 'conflict'
      readonly message: string
      /** Too few agents were left, but they may return: the deploy stays pending for them. */
      readonly staysPending?: boolean
      /** By agent that refused it, the error with the author's line numbers. */
      readonly failures?: ReadonlyMap<number, string>
    }

/** For callers that report each cache separately. */
export class DeployDiscarded extends FleetError {
  constructor(
    kind: FleetError['kind'],
    message: string,
    readonly failures: ReadonlyMap<number, string> = new Map(),
    detail: ConstructorParameters<typeof FleetError>[3] = {},
  ) {
    super(kind, 'deploy', message, detail)
  }
}

/** Returns the error for the caller of the deploy; undefined if it switches. */
export async function decideDeploy(
  service: StateService,
  context: Context,
  deploy: DeployRecord,
  verdict: LoadVerdict,
): Promise<FleetError | undefined> {
  const now = service.now()
  const agentIds = await service.store.decide((queries) => decide(queries, deploy, verdict, now))
  if (agentIds === undefined) return explainEnd(service, deploy)
  notifyDesiredChanged(service, agentIds, context.traceId)
  const fields = { group: deploy.groupId, agents: agentIds.length }
  if (verdict.kind === 'switch') {
    context.log.info({ ...fields, revision: deploy.revision }, 'deploy: switching')
    return undefined
  }
  context.log.warn(fields, `deploy: discarded: ${verdict.message}`)
  const detail = isRollout(deploy) ? { rolloutId: deploy.rolloutId } : {}
  return new DeployDiscarded(verdict.kind, verdict.message, verdict.failures, detail)
}

/** Returns the agents whose desired state changed; undefined when another coordinator owns the deploy or it has ended. */
async function decide(
  queries: Queries,
  deploy: DeployRecord,
  verdict: LoadVerdict,
  now: number,
): Promise<readonly number[] | undefined> {
  if (!(await deleteDeploy(queries, deploy))) return undefined
  const group = await findGroup(queries, { kind: 'all' }, deploy.groupId)
  if (!group) throw new Error(`group ${deploy.groupId} was deleted during its deploy`)
  const placements = await readPlacements(queries, {
    groupIds: [deploy.groupId],
    stage: holderOf(deploy).stage,
  })
  if (isRollout(deploy)) {
    if (verdict.kind === 'switch') return beginRollout(queries, deploy.rolloutId, placements, now)
    await failRollout(queries, deploy.rolloutId, verdict.message, now)
  }
  return carryOut(queries, { deploy, group, placements, before: placements, now }, verdict)
}

/** A deploy that was decided in the transaction that began it has no row. */
export type UnsavedDeploy = Omit<DeployRecord, 'id'>

/** For a deploy of VCL that each of its agents holds. Returns the agents whose desired state changed. */
export function switchAtOnce(
  queries: Queries,
  decided: Omit<Decided, 'deploy' | 'now'> & { readonly deploy: UnsavedDeploy },
  now: number,
): Promise<readonly number[]> {
  const deploy = { ...decided.deploy, id: null }
  return carryOut(queries, { ...decided, deploy, now }, { kind: 'switch' })
}

async function carryOut(
  queries: Queries,
  decided: Decided,
  verdict: LoadVerdict,
): Promise<readonly number[]> {
  const { deploy, group, placements, before, now } = decided
  const holder = holderOf(deploy)
  const { groupId, stage } = holder
  const isSwitch = verdict.kind === 'switch'
  const changes = isSwitch ? await switchAll(queries, decided) : dropAll(placements)
  if (!isSwitch) await keepWhatWas(queries, decided, verdict.staysPending)
  const takes = isSwitch && !stage
  const losers = takes ? await takeReplaced(queries, groupId, findSwitched(changes.save)) : []
  await savePlacements(queries, changes.save, before)
  await deletePlacements(queries, holder, changes.leave)
  // If it will no longer be loaded there, the other groups keep their placements.
  await releaseReplaced(queries)
  const replaced = takes ? await readReplaced(queries, groupId, losers) : []
  const by = { id: groupId, name: group.name }
  await undeployUnplaced(queries, { ids: losers, by, account: deploy.account, now })
  await noteDecision(queries, decided, verdict, replaced)
  const agentIds = [...placements.map(({ agentId }) => agentId), ...changes.freed]
  const isOwn = placements.every(({ replacedBy }) => replacedBy === null)
  const known = isOwn ? { ...holder, placements: changes.save } : undefined
  return recomposeDesired(queries, [...new Set(agentIds)], { known })
}

interface Decided {
  readonly deploy: UnsavedDeploy & { readonly id: number | null }
  readonly group: GroupRecord
  readonly placements: readonly PlacementRecord[]
  /** The same placements as they are stored. */
  readonly before: readonly PlacementRecord[]
  readonly now: number
}

interface Changes {
  readonly save: readonly PlacementRecord[]
  /** Agents that the group (or its stage) leaves. */
  readonly leave: readonly number[]
  /** Agents that a promoted stage leaves. */
  readonly freed: readonly number[]
}

async function switchAll(
  queries: Queries,
  { deploy, group, placements, now }: Decided,
): Promise<Changes> {
  const { groupId, organizationId, revision, sources } = deploy
  const isStage = isStaged(sources)
  if (isStage) await writeStage(queries, { groupId, organizationId, revision, sources }, now)
  else await writeDesiredRelease(queries, groupId, { sources, pending: false, revision })
  if (group.console) await relateBranch(queries, groupId, sources.mainVCL.id, now)
  const freed = deploy.action === 'promote' ? await promoteStage(queries, group, now) : []
  const agents = await readAgentStates(queries, groupId)
  const switchOne = (placement: PlacementRecord): PlacementRecord => {
    const { candidateState, error } = placement
    if (candidateState === 'loaded') return switchPlacement(placement, revision)
    const isThere = agents.get(placement.agentId)?.state === agentStates.Running
    // Pending with an error: the agent keeps trying and might never finish.
    const hasFailed =
      candidateState === 'failed' || (candidateState === 'pending' && error !== null)
    if (hasFailed && isThere) return failPlacement(placement, isStage || group.keepOnFailure)
    // The agent is still loading or away: it switches when it has loaded (placement-following.ts).
    return { ...awaitCandidate(placement), wantedRevision: revision, state: 'wanted' }
  }
  return {
    save: placements.filter(({ candidate }) => candidate !== null).map(switchOne),
    leave: placements
      .filter(({ candidate, replacedBy }) => candidate === null && replacedBy === null)
      .map(({ agentId }) => agentId),
    freed,
  }
}

function dropAll(placements: readonly PlacementRecord[]): Changes {
  const dropped = placements.map((placement) =>
    placement.candidate === null ? placement : dropCandidate(placement),
  )
  return {
    save: dropped.filter(holdsPlacement),
    leave: dropped.filter((placement) => !holdsPlacement(placement)).map(({ agentId }) => agentId),
    freed: [],
  }
}

/**
 * A failed stage leaves the previous stage. A failed promote leaves no pending deploy, and neither does a deploy that would
 * take over placements of other groups: they are only taken over on request.
 */
async function keepWhatWas(
  queries: Queries,
  { deploy, group }: Decided,
  staysPending = false,
): Promise<void> {
  const { action, groupId, sources } = deploy
  if (action === 'stage') {
    const stage = await findStage(queries, groupId)
    await replaceUses(queries, groupId, stage ? [stage.sources] : [])
    return
  }
  if (action === 'promote' || !staysPending || isRepeated(deploy, group)) return
  if (await isReplacing(queries, groupId)) return
  await writeDesiredRelease(queries, groupId, { sources, pending: true, revision: group.revision })
}

/** Adds the decision to the history, unless the deployed release only went to further agents and replaced no group. */
async function noteDecision(
  queries: Queries,
  { deploy, group, now }: Decided,
  verdict: LoadVerdict,
  replaced: readonly NamedReference[],
): Promise<void> {
  const { groupId, organizationId, account, action, sources } = deploy
  const isSwitch = verdict.kind === 'switch'
  if (isSwitch && replaced.length === 0 && isRepeated(deploy, group)) return
  const made = action === 'stage' ? group.revision : deploy.revision
  const entry = {
    groupId,
    organizationId,
    account,
    action,
    sources,
    at: now,
    revision: isSwitch ? made : null,
    result: isSwitch ? 'ok' : verdict.message,
    ...(replaced.length > 0 && { replaced }),
  }
  await addHistory(queries, entry, deploy.id)
}

/** True if the deploy puts the deployed release on further agents, which makes no new revision. */
function isRepeated({ action, revision }: UnsavedDeploy, group: GroupRecord): boolean {
  return action !== 'stage' && revision === group.revision
}

const cancelled = 'cancelled by '

/** The result of a deploy that an administrator cancelled. */
export function describeCancel(account: string): string {
  return `${cancelled}${account}`
}

/**
 * Returns the error for the caller of a deploy that this process no longer owns: an administrator cancelled it, or another
 * coordinator ended it after this one failed to renew the lease (the process slept, or the store was unavailable).
 */
export async function explainEnd(service: StateService, deploy: DeployRecord): Promise<FleetError> {
  const result = await findDeployResult(service.store.queries, deploy)
  if (result?.startsWith(cancelled) === true) return new FleetError('conflict', 'deploy', result)
  const takenOver =
    'another coordinator took over this deploy and ended it; see the history of the group for the result'
  return new FleetError('unavailable', 'deploy', takenOver)
}
