/**
 * Deploying a group in two phases (choices: 3, Deploy): every chosen agent loads and compiles beside what serves;
 * only when each deployment has its min loaded do they switch.
 *
 *   begin → loading → decide ─┬→ switching → done
 *                             └→ discarded, the old VCL serves on
 *
 * The deploy's row is written with the first phase and deleted with the decision: a coordinator that starts again
 * discards what has a row (deploy-recovery.ts); what has none is desired state and completes by itself.
 */
import type { Context } from '../../context.js'
import type { Actor } from '../../domain/permission.js'
import { FleetError } from '../../errors.js'
import { findGroup } from '../../store/vcl-groups.js'
import { beginDeploy } from './deploy-begin.js'
import { decideDeploy } from './deploy-decision.js'
import { followLoads } from './deploy-loads.js'
import { gatherSources } from './deploy-sources.js'
import { recordRefusedDeploy } from './history.js'
import { scopeOf, type StateService } from './service.js'
import { waitForSwitch } from './switch-wait.js'
import type { DeployRecord } from '../../store/deploys.js'

/** What a group verb is asked (choices: 3, `wait` and `percent`). */
export interface VerbRequest {
  readonly groupId: number
  /** How long the caller waits; the work itself goes on. */
  readonly waitMs: number
  /** 0..100: answer once this share of the placed agents has applied. */
  readonly percent: number
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
  request: VerbRequest,
): Promise<VerbAnswer> {
  const untilMs = service.now() + request.waitMs
  const group = await findGroup(service.store.queries, scopeOf(actor), request.groupId)
  if (!group) throw new FleetError('not-found', 'deploy', `${request.groupId} was not found`)
  const gathered = await gatherSources(service, group)
  if ('error' in gathered) {
    await recordRefusedDeploy(service, { actor, group, gathered, result: gathered.error })
    throw new FleetError('uncompilable', 'deploy', gathered.error)
  }
  const deploy = await beginDeploy(service, context, { actor, group, gathered, untilMs })
  if (deploy === 'unchanged') return { completed: true }
  const work = runDeploy(service, context, deploy, request)
  const answer = await service.background.follow(context, work, untilMs - service.now())
  return answer ?? { completed: false }
}

/** From the first instruction to the last report; ends when every placed agent applied or failed. */
export async function runDeploy(
  service: StateService,
  context: Context,
  deploy: DeployRecord,
  request: Pick<VerbRequest, 'waitMs' | 'percent'>,
): Promise<VerbAnswer> {
  const verdict = await followLoads(service, context, deploy, request.waitMs)
  if (verdict === 'stopping') return { completed: false }
  const { error } = await decideDeploy(service, context, deploy, verdict)
  const answer = error ? undefined : await waitForSwitch(service, deploy.groupId, request.percent)
  service.observeDeploy(error?.kind ?? 'ok', (service.now() - deploy.startedAt) / 1000)
  if (error) throw error
  return answer ?? { completed: false }
}
