/**
 * Deploying a group in two phases (choices: 3, Deploy): every chosen agent loads and compiles beside what serves;
 * only when each deployment has its min loaded do they switch.
 *
 *   begin → loading → decide ─┬→ switching → done
 *                             └→ discarded, the old VCL serves on
 *
 * The deploy's row is written with the first phase and deleted with the decision: what a coordinator left with a row is
 * discarded, by itself or by another one (deploy-recovery.ts); what has none is desired state and completes by itself.
 */
import type { Context } from '../../context.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { findGroup } from '../fleet/group-queries.js'
import { beginDeploy, type BeginRequest } from './deploy-begin.js'
import { decideDeploy, type Decided } from './deploy-decision.js'
import { explainEnd } from './deploy-end.js'
import { keepDeployLease } from './deploy-lease.js'
import type { TurnRequest } from './deploy-turn.js'
import { followLoads } from './deploy-loads.js'
import { gatherSources, type ChosenFiles } from '../groups/deploy-sources.js'
import { recordRefusedDeploy } from '../groups/history.js'
import { scopeOf, type StateService } from '../service.js'
import { waitForSwitch } from './switch-wait.js'
import { holderOf, type DeployRecord } from '../fleet/deploy-queries.js'

/** What a group verb is asked (choices: 3, `wait` and `percent`). */
export interface VerbRequest {
  readonly groupId: number
  /** How long the caller waits; the work itself goes on. */
  readonly waitMs: number
  /** 0..100: answer once this share of the placed agents has applied. */
  readonly percent: number
}

export interface DeployRequest extends VerbRequest {
  /** In place of the group's own files. */
  readonly files?: ChosenFiles
  /** It takes the places of other groups of its owner (`BeginRequest`). */
  readonly replace?: BeginRequest['replace']
}

export interface VerbAnswer {
  /** False: it goes on (202). */
  readonly completed: boolean
}

/** Throws FleetError: not-found, conflict, unavailable, uncompilable. */
export async function deployVclGroup(
  service: StateService,
  context: Context,
  actor: Actor,
  request: DeployRequest,
): Promise<VerbAnswer> {
  const untilMs = service.now() + request.waitMs
  const group = await findGroup(service.store.queries, scopeOf(actor), request.groupId)
  if (!group) throw new FleetError('not-found', 'deploy', `${request.groupId} was not found`)
  const gathered = await gatherSources(service, group, request.files)
  if ('error' in gathered) {
    const result = gathered.error
    await recordRefusedDeploy(service, { actor, action: 'deploy', group, gathered, result })
    throw new FleetError('uncompilable', 'deploy', gathered.error)
  }
  return runVerb(service, context, request, {
    actor,
    groupId: group.id,
    action: 'deploy',
    choose: () => Promise.resolve({ gathered, naming: 'kept' }),
    replace: request.replace,
    untilMs,
  })
}

/** Begins, and waits for the end at most until `untilMs`. */
export async function runVerb(
  service: StateService,
  context: Context,
  request: Pick<VerbRequest, 'waitMs' | 'percent'>,
  begin: BeginRequest,
): Promise<VerbAnswer> {
  return followBegun(service, context, await beginDeploy(service, context, begin), {
    ...request,
    ...begin,
  })
}

/** The rest of a group verb whose turn came. */
export async function followBegun(
  service: StateService,
  context: Context,
  begun: DeployRecord | 'unchanged' | 'switching',
  request: Pick<VerbRequest, 'waitMs' | 'percent'> & TurnRequest,
): Promise<VerbAnswer> {
  if (begun === 'unchanged') return { completed: true }
  const work =
    begun === 'switching'
      ? waitForSwitch(service, holderOf(request), request.percent)
      : runDeploy(service, context, begun, request)
  const answer = await service.background.follow(context, work, request.untilMs - service.now())
  return answer ?? { completed: false }
}

/** From the first instruction to the last report; ends when every placed agent applied or failed. */
export async function runDeploy(
  service: StateService,
  context: Context,
  deploy: DeployRecord,
  request: Pick<VerbRequest, 'waitMs' | 'percent'>,
): Promise<VerbAnswer> {
  const decided = await loadAndDecide(service, context, deploy, request.waitMs)
  if (decided === 'stopping') return { completed: false }
  const { error } = decided
  const answer = error ? undefined : await waitForSwitch(service, holderOf(deploy), request.percent)
  service.observeDeploy(error?.kind ?? 'ok', (service.now() - deploy.startedAt) / 1000)
  if (error) throw error
  return answer ?? { completed: false }
}

/** Phase one, for as long as the deploy is this process's. */
async function loadAndDecide(
  service: StateService,
  context: Context,
  deploy: DeployRecord,
  waitMs: number,
): Promise<Decided | 'stopping'> {
  const lease = keepDeployLease(service, deploy)
  try {
    const verdict = await followLoads(service, context, deploy, waitMs)
    if (verdict === 'ended') return { error: await explainEnd(service, deploy) }
    if (verdict !== 'stopping') return await decideDeploy(service, context, deploy, verdict)
    await lease.giveUp()
    return 'stopping'
  } finally {
    await lease.stop()
  }
}
