/**
 * Ends undecided deploys from outside the process that runs them. An administrator can cancel one. Deploys that a stopped
 * coordinator left are discarded: by itself when it starts again, or by another coordinator of the same store when their
 * leases expire. Decided deploys complete by themselves.
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
 * One decision removes the deploy's row and its candidates, so no agent switches. The coordinator that runs the deploy finds
 * the row gone and responds to its caller. Throws 'conflict' if no deploy of the group is in its first phase.
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
  // The deploy was decided meanwhile: it switches or was discarded.
  if (ended?.message !== message) throw nothingLoads()
  // Wakes the coordinator that runs the deploy and the requests that wait for its end.
  notifyAgentsChanged(
    service,
    loading.map(({ agentId }) => agentId),
  )
}

function nothingLoads(): FleetError {
  const message =
    'no deploy of this group is loading, so there is none to cancel; one that is switching cannot be stopped'
  return new FleetError('conflict', 'deploy', message)
}

interface DeployRecovery {
  /** Runs one check, as the loop does every few seconds. Never rejects. */
  check(): Promise<void>
  stop(): Promise<void>
}

/** Discards deploys of every owner. For the only coordinator of a store, before it runs deploys of its own. */
export function discardUnfinishedDeploys(service: StateService, context: Context): Promise<void> {
  return discardDeploys(service, context, Number.MAX_SAFE_INTEGER)
}

export function startDeployRecovery(service: StateService, log: Logger): DeployRecovery {
  /** While the store was unavailable, owners could not renew their leases either. */
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
