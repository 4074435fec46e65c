/**
 * Deploys that are ended before their decision by another than who runs them. An administrator cancels one. What a coordinator
 * left is discarded: by itself when it starts again, by another one of the same store when their lease is over. What was decided
 * completes by itself.
 */
import type { Logger } from 'pino'
import { createContext, type Context } from '../../context.js'
import { FleetError } from '../../errors.js'
import type { Actor } from '../../resources/permission.js'
import { startLoop } from '../../runtime/loop.js'
import { notifyAgentsChanged } from '../agents/agent-hints.js'
import { readDeploys, takeExpiredDeploys } from '../fleet/deploy-queries.js'
import { readPlacements } from '../fleet/placement-queries.js'
import type { StateService } from '../service.js'
import { leaseMs, renewEveryMs } from '../store/leases.js'
import { decideDeploy, describeCancel } from './decide.js'

/**
 * Its row goes with the candidates in one decision, so nothing switches, whichever coordinator runs the deploy; that one finds the row
 * gone and answers its caller. Throws 'conflict' when no deploy of the group is in its first phase.
 */
export async function cancelDeploy(
  service: StateService,
  context: Context,
  actor: Actor,
  { id: groupId }: { readonly id: number },
): Promise<void> {
  const { queries } = service.store
  const [deploy] = await readDeploys(queries, [groupId])
  if (!deploy) throw nothingLoads()
  const loading = await readPlacements(queries, { groupIds: [groupId] })
  const message = describeCancel(actor.accountName)
  const ended = await decideDeploy(service, context, deploy, { kind: 'conflict', message })
  // Decided meanwhile: it switches, or was given up.
  if (ended?.message !== message) throw nothingLoads()
  // Wakes whoever runs the deploy and whoever waits for its turn.
  notifyAgentsChanged(
    service,
    loading.map(({ agentId }) => agentId),
  )
}

function nothingLoads(): FleetError {
  const message =
    'no deploy of this group is loading, so there is none to cancel; what switches cannot be stopped'
  return new FleetError('conflict', 'deploy', message)
}

interface DeployRecovery {
  /** One check; the loop runs one every few seconds. Never rejects. */
  check(): Promise<void>
  stop(): Promise<void>
}

/** Of any owner: for a coordinator that is alone, before it runs deploys of its own. */
export function discardUnfinishedDeploys(service: StateService, context: Context): Promise<void> {
  return discardDeploys(service, context, Number.MAX_SAFE_INTEGER)
}

export function startDeployRecovery(service: StateService, log: Logger): DeployRecovery {
  /** Owners could not prolong their leases either while the store was away. */
  let graceUntil = 0
  const trouble = 'unfinished deploys cannot be checked'
  const loop = startLoop({ log, trouble, everyMs: renewEveryMs, pass: check })
  return { check, stop: () => loop.close() }

  async function check(): Promise<void> {
    const now = service.now()
    try {
      if (now >= graceUntil) await discardDeploys(service, createContext(log), now)
      else await service.store.check()
    } catch (error) {
      graceUntil = service.now() + leaseMs
      if (error instanceof FleetError) log.debug({ err: error }, 'no store: no deploy is discarded')
      else log.error({ err: error }, 'unfinished deploys could not be discarded')
    }
  }
}

async function discardDeploys(service: StateService, context: Context, now: number): Promise<void> {
  const taken = await takeExpiredDeploys(service.store.queries, {
    owner: service.leases.processId,
    now,
    leaseExpiresAt: service.now() + leaseMs,
  })
  for (const deploy of taken)
    await decideDeploy(service, { ...context, traceId: deploy.traceId }, deploy, {
      kind: 'unavailable',
      message: 'the coordinator stopped before the caches had loaded',
    })
}
