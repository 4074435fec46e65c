/**
 * The verbs that put a group, or its stage, on caches: deploy, reload, rollback, promote, stage. Each chooses the sources; the
 * rest is the same for all, in two phases: every chosen agent loads and compiles the new VCL beside the one that serves, and the
 * agents switch only when each deployment has its min loaded.
 *
 *   begin.ts → start-loading.ts → load.ts → decide.ts ─┬→ switch.ts → done
 *                                                      └→ discarded, the old VCL serves on
 *
 * If all of them hold the VCL, start-loading.ts is followed by switch.ts: one transaction begins and decides.
 * Otherwise the deploy's row is written with the first phase and deleted with the decision. If a coordinator stops in between, it or
 * another one discards the deploy (recover.ts); without a row, it is desired state and completes by itself.
 */
import type { Context } from '../../context.js'
import { FleetError } from '../../errors.js'
import type { Actor } from '../../resources/permission.js'
import { startLoop } from '../../runtime/loop.js'
import { notifyDesiredChanged } from '../agents/agent-hints.js'
import { watchAgents } from '../agents/watch-agents.js'
import { listStagedAgents } from '../fleet/end-stage.js'
import { holderOf, renewDeploy, type DeployRecord } from '../fleet/deploy-queries.js'
import { deploymentIdsOf, releasesOf, type GroupRecord } from '../fleet/group-queries.js'
import { findNewestRevision, findRevision, type HistoryEntry } from '../fleet/history-queries.js'
import { isEarlierVcl, type Release } from '../fleet/vcl-group.js'
import {
  flattenFiles,
  gatherSources,
  type ChosenFiles,
  type Gathered,
} from '../groups/deploy-sources.js'
import { recallSources } from '../groups/recall-sources.js'
import { isRollout } from '../rollouts/begin-rollout.js'
import { waitForRollout } from '../rollouts/running-rollout.js'
import type { StateService } from '../service.js'
import { leaseMs, renewEveryMs } from '../store/leases.js'
import type { Queries } from '../store/store.js'
import { isForeignKeyViolation, isUniqueViolation } from '../store/violation.js'
import { requireGroup, tryBegin, type BeginRequest } from './begin.js'
import { decideDeploy, explainEnd } from './decide.js'
import { requireFlat, requireTested, type TestsAsked } from './judge-sources.js'
import { followLoads } from './load.js'
import { planStage, readStaged, type StageFiles } from './stage.js'
import { gatherStage, testStage } from './staged-sources.js'
import type { Begun } from './start-loading.js'
import { waitForSwitch, waitUntilLeft } from './switch.js'

/** The request that all group verbs share. */
export interface VerbRequest {
  readonly actor: Actor
  readonly groupId: number
  /** How long the caller waits; the work itself continues afterwards. */
  readonly waitMs: number
  /** 0..100: respond once this share of the placed agents has applied. */
  readonly percent: number
  /** Called when the deploy has begun and its second phase is a rollout. */
  readonly onRollout?: (id: number) => void
}

interface TestedRequest extends VerbRequest {
  readonly tests?: TestsAsked
}

interface DeployRequest extends TestedRequest {
  /** Used in place of the group's own files. */
  readonly files?: ChosenFiles
  readonly replace?: BeginRequest['replace']
  readonly rollout?: BeginRequest['rollout']
}

/** Returns false while it goes on, as all verbs do. Throws FleetError: not-found, conflict, unavailable, uncompilable. */
export async function deployVclGroup(
  service: StateService,
  context: Context,
  request: DeployRequest,
): Promise<boolean> {
  const group = await requireGroup(service.store.queries, request.actor, request.groupId)
  const asked = { ...request, action: 'deploy' } as const
  const judged = { ...asked, group }
  const gathered = await requireFlat(
    service,
    judged,
    await gatherSources(service, group, request.files),
  )
  await requireTested(service, context, judged, gathered)
  // The wait is for the caches and does not include the tests.
  const untilMs = service.now() + request.waitMs
  const choose = () => Promise.resolve({ gathered, naming: 'kept' } as const)
  return runVerb(service, context, { ...asked, choose }, untilMs)
}

/** Recompiles the deployed VCL under a new name, which resolves the host names of backends again. */
export function reloadVclGroup(
  service: StateService,
  context: Context,
  request: VerbRequest,
): Promise<boolean> {
  return runVerb(service, context, {
    ...request,
    action: 'reload',
    choose: async (queries, group) => {
      const { desiredRelease } = group
      if (!desiredRelease)
        throw new FleetError('conflict', 'deploy', 'the group is not deployed; deploy it first')
      return {
        gathered: await recallSources(service, queries, group, desiredRelease),
        naming: 'new',
      }
    },
  })
}

interface RollbackRequest extends VerbRequest {
  /** Null: the newest one with other sources. */
  readonly revision: number | null
}

/**
 * Deploys the text of an earlier revision. On caches that still hold that VCL, phase one has nothing to load and the rollback is
 * only a switch. Also throws 'not-found' for the revision.
 */
export function rollBackVclGroup(
  service: StateService,
  context: Context,
  request: RollbackRequest,
): Promise<boolean> {
  return runVerb(service, context, {
    ...request,
    action: 'rollback',
    choose: async (queries, group) => {
      const { sources } = await findRollbackTarget(queries, group, request.revision)
      const gathered = await gatherEarlier(service, queries, group, sources)
      return { gathered, naming: { earlier: sources.programName } }
    },
  })
}

/** Takes the group's present deployments: those of the earlier revision may no longer exist, and a rollback moves no placements. */
export function gatherEarlier(
  service: StateService,
  queries: Queries,
  group: GroupRecord,
  sources: Release,
): Promise<Gathered> {
  const inForce = { deploymentIds: deploymentIdsOf(group), releases: releasesOf(group) }
  return recallSources(service, queries, group, { ...sources, ...inForce })
}

/** Returns the revision whose sources a rollback deploys. Throws 'not-found'. */
export async function findRollbackTarget(
  queries: Queries,
  { id, desiredRelease }: GroupRecord,
  wanted: number | null,
): Promise<HistoryEntry> {
  const entry =
    wanted === null
      ? await findNewestRevision(queries, id, (revision) => isEarlierVcl(revision, desiredRelease))
      : await findRevision(queries, id, wanted)
  if (entry) return entry
  const message =
    wanted === null
      ? 'there is no earlier revision of this group with other sources'
      : `revision ${wanted} was not found`
  throw new FleetError('not-found', 'deploy', message)
}

/**
 * Makes the staged sources the group's: deploys them with the group's own domains and deployments; the stage ends with the
 * switch. A failed promote leaves group and stage as they were. Also throws 'conflict' if there is no stage.
 */
export async function promoteVclGroup(
  service: StateService,
  context: Context,
  request: TestedRequest & { readonly group: GroupRecord },
): Promise<boolean> {
  const testedSha = await testStage(service, context, request)
  const untilMs = service.now() + request.waitMs
  let staged: readonly number[] = []
  const choose: BeginRequest['choose'] = async (queries, group) => {
    staged = await listStagedAgents(queries, group.id)
    const gathered = await gatherStage(service, queries, group)
    if (testedSha !== null && 'source' in gathered && gathered.source.sha !== testedSha)
      throw new FleetError('conflict', 'deploy', 'the stage has changed while it was tested')
    return { gathered, naming: 'kept' }
  }
  const begin = { ...request, action: 'promote', choose } as const
  const completed = await runVerb(service, context, begin, untilMs)
  return completed && waitUntilLeft(service, holderOf(begin), staged, untilMs)
}

interface StageRequest extends VerbRequest {
  readonly files: StageFiles
}

/** All or nothing: every Running agent with all of the tags must load, then all switch. Also throws 'invalid'. */
export async function stageVclGroup(
  service: StateService,
  context: Context,
  request: StageRequest,
): Promise<boolean> {
  const { actor, groupId, files } = request
  const { queries } = service.store
  const untilMs = service.now() + request.waitMs
  const group = await requireGroup(queries, actor, groupId)
  const { target, ...staged } = await readStaged(service, group, files)
  const asked = { ...request, action: 'stage' } as const
  const gathered = await flattenFiles(service, queries, { ...group, ...staged }, staged)
  await requireFlat(service, { ...asked, group }, gathered)
  let before: readonly number[] = []
  const begin: RunRequest = {
    ...asked,
    choose: async (queries) => {
      before = await listStagedAgents(queries, groupId)
      return { gathered, naming: 'kept' }
    },
    plan: (queries, asked) => planStage(queries, asked, target),
  }
  const completed = await runVerb(service, context, begin, untilMs)
  return completed && waitUntilLeft(service, holderOf(begin), before, untilMs)
}

type RunRequest = BeginRequest & Pick<VerbRequest, 'waitMs' | 'percent' | 'onRollout'>

/** Waits for the deploy's turn and then for its end, both at most until `untilMs`. */
async function runVerb(
  service: StateService,
  context: Context,
  request: RunRequest,
  untilMs = service.now() + request.waitMs,
): Promise<boolean> {
  const begun = await beginDeploy(service, context, request, untilMs)
  if (begun === 'unchanged') return true
  if (begun !== 'switching' && isRollout(begun.deploy)) request.onRollout?.(begun.deploy.rolloutId)
  const work =
    begun === 'switching'
      ? waitForSwitch(service, holderOf(request), request.percent)
      : runDeploy(service, context, begun, request)
  return (await service.background.follow(context, work, untilMs - service.now())) ?? false
}

/**
 * A group has one deploy at a time: waits until `untilMs` for another one to end, then throws 'conflict'. Returns the deploy that
 * has begun, 'unchanged' if every cache already serves the sources, or 'switching' if every cache will.
 */
export async function beginDeploy(
  service: StateService,
  context: Context,
  request: BeginRequest,
  untilMs: number,
): Promise<Begun | 'unchanged' | 'switching'> {
  const poll = () =>
    service.store
      .decide((queries) => tryBegin(service, context, request, queries))
      .catch(refuseTaken)
  const begun = await watchAgents(service, poll, untilMs)
  if (!begun)
    throw new FleetError('conflict', 'deploy', 'another deploy of this group is in progress')
  if (begun instanceof FleetError) throw begun
  const { agentIds } = begun
  notifyDesiredChanged(service, agentIds, context.traceId)
  if (!('deploy' in begun)) return begun.kind
  const { groupId: group, revision } = begun.deploy
  const phase = begun.kind === 'loading' ? 'loading' : 'switching'
  context.log.info({ group, revision, agents: agentIds.length }, `${request.action}: ${phase}`)
  return begun
}

/** Turns a violated table constraint into 'conflict'. A referenced object may have been deleted since it was read. */
function refuseTaken(error: unknown): never {
  const isGone = isForeignKeyViolation(error)
  if (!isGone && !isUniqueViolation(error)) throw error
  const message = isGone
    ? 'something that this refers to was deleted meanwhile'
    : 'another group has one of the domains on an agent that this one needs'
  throw new FleetError('conflict', 'deploy', message)
}

/** Runs a deploy that has begun, until enough of the placed agents have applied or all have settled. */
export async function runDeploy(
  service: StateService,
  context: Context,
  begun: Begun,
  { waitMs, percent }: Pick<VerbRequest, 'waitMs' | 'percent'>,
): Promise<boolean> {
  const { deploy } = begun
  const error =
    begun.kind === 'loading'
      ? await loadAndDecide(service, context, begun.deploy, waitMs)
      : undefined
  if (error === 'stopping') return false
  const untilMs = deploy.startedAt + waitMs
  const completed = !error && (await waitForSecondPhase(service, deploy, { percent, untilMs }))
  service.observeDeploy(error?.kind ?? 'ok', (service.now() - deploy.startedAt) / 1000)
  if (error) throw error
  return completed
}

function waitForSecondPhase(
  service: StateService,
  deploy: Begun['deploy'],
  { percent, untilMs }: { readonly percent: number; readonly untilMs: number },
): Promise<boolean> {
  return isRollout(deploy)
    ? waitForRollout(service, deploy.rolloutId, untilMs)
    : waitForSwitch(service, holderOf(deploy), percent)
}

/** Runs phase one while this process renews the deploy's lease. Returns undefined if the deploy switches. */
async function loadAndDecide(
  service: StateService,
  context: Context,
  deploy: DeployRecord,
  waitMs: number,
): Promise<FleetError | 'stopping' | undefined> {
  const prolong = (untilMs: number) => renewDeploy(service.store.queries, deploy, untilMs)
  const pass = () => prolong(service.now() + leaseMs)
  // If the store is unavailable or another coordinator took over the deploy, the decision is refused.
  const lease = startLoop({ log: null, everyMs: renewEveryMs, pass })
  try {
    const verdict = await followLoads(service, context, deploy, waitMs)
    if (verdict === 'ended') return await explainEnd(service, deploy)
    if (verdict !== 'stopping') return await decideDeploy(service, context, deploy, verdict)
    // Lets another coordinator take over without waiting for the lease to expire.
    await lease.close()
    await prolong(0).catch(() => undefined)
    return 'stopping'
  } finally {
    await lease.close()
  }
}
