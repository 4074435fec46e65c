/**
 * The decision of a deploy, in one transaction: the deploy's row goes, and either candidates become current or they
 * are dropped. Whoever deletes the row has decided; a second decision changes nothing.
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
      /** Too few agents were left, which may return: late agents get it. */
      readonly staysPending?: boolean
      /** The error of each agent that refused it, in the author's lines. */
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

/** Answers the error for the caller of the deploy; undefined when it was switched. */
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

/** Answers the agents whose desired state changed; undefined when the deploy was another's, or ended. */
async function decide(
  queries: Queries,
  deploy: DeployRecord,
  verdict: LoadVerdict,
  now: number,
): Promise<readonly number[] | undefined> {
  if (!(await deleteDeploy(queries, deploy))) return undefined
  const group = await findGroup(queries, { kind: 'all' }, deploy.groupId)
  if (!group) throw new Error(`group ${deploy.groupId} was deleted during its deploy`)
  const { groupId, stage } = holderOf(deploy)
  const placements = await readPlacements(queries, { groupIds: [groupId], stage })
  const decided = { deploy, group, placements, now }
  const isSwitch = verdict.kind === 'switch'
  if (isRollout(deploy)) {
    if (isSwitch) return beginRollout(queries, deploy.rolloutId, placements, now)
    await failRollout(queries, deploy.rolloutId, verdict.message, now)
  }
  const changes = isSwitch ? await switchAll(queries, decided) : dropAll(placements)
  if (!isSwitch) await keepWhatWas(queries, decided, verdict.staysPending)
  const takes = isSwitch && !stage
  const losers = takes ? await takeReplaced(queries, groupId, findSwitched(changes.save)) : []
  await savePlacements(queries, changes.save)
  await deletePlacements(queries, { groupId, stage }, changes.leave)
  // Where it is not to be loaded any more the others keep their places.
  await releaseReplaced(queries)
  const replaced = takes ? await readReplaced(queries, groupId, losers) : []
  const by = { id: groupId, name: group.name }
  await undeployUnplaced(queries, { ids: losers, by, account: deploy.account, now })
  await noteDecision(queries, decided, verdict, replaced)
  const agentIds = [...placements.map(({ agentId }) => agentId), ...changes.freed]
  return recomposeDesired(queries, [...new Set(agentIds)])
}

interface Decided {
  readonly deploy: DeployRecord
  readonly group: GroupRecord
  readonly placements: readonly PlacementRecord[]
  readonly now: number
}

interface Changes {
  readonly save: readonly PlacementRecord[]
  /** Agents that the group leaves. */
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
    // Or it said why it cannot load it: who waits for it might wait for ever.
    const hasFailed =
      candidateState === 'failed' || (candidateState === 'pending' && error !== null)
    if (hasFailed && isThere) return failPlacement(placement, isStage || group.keepOnFailure)
    // Still loading, or away: it switches when it has loaded (placement-following.ts).
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
 * A stage that fails leaves the one before it; a promote that fails leaves no pending deploy, and neither does one that was to
 * take places of others: without being told to, nobody takes them later.
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

/** What is deployed already went where it was not: nothing to report, unless others made way for it. */
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

/** What is deployed already was to go where it is not: it makes no revision. */
function isRepeated({ action, revision }: DeployRecord, group: GroupRecord): boolean {
  return action !== 'stage' && revision === group.revision
}

const cancelled = 'cancelled by '

/** The result of a deploy that an administrator ended. */
export function describeCancel(account: string): string {
  return `${cancelled}${account}`
}

/**
 * What the caller of a deploy is answered that is no longer that of the process which ran it: an administrator ended it; or
 * another coordinator did, since this one could not prolong its lease: it slept, or the store was away.
 */
export async function explainEnd(service: StateService, deploy: DeployRecord): Promise<FleetError> {
  const result = await findDeployResult(service.store.queries, deploy)
  if (result?.startsWith(cancelled) === true) return new FleetError('conflict', 'deploy', result)
  const takenOver = 'another coordinator took this deploy over and ended it; its history says how'
  return new FleetError('unavailable', 'deploy', takenOver)
}
