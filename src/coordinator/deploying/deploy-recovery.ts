/**
 * Deploys that a coordinator left before their decision are discarded: by itself when it starts again, by another one of
 * the same store when their lease is over (choices: 3, Deploy). What was decided completes by itself.
 */
import type { Logger } from 'pino'
import { createContext, type Context } from '../../context.js'
import { FleetError } from '../../errors.js'
import { takeExpiredDeploys } from '../fleet/deploy-queries.js'
import { decideDeploy } from './deploy-decision.js'
import { leaseMs, renewEveryMs } from '../store/leases.js'
import type { StateService } from '../service.js'

interface DeployRecovery {
  /** One look; the timer calls it every few seconds. Never rejects. */
  check(): Promise<void>
  stop(): Promise<void>
}

/** Of any owner: for a coordinator that is alone, before it runs deploys of its own. */
export function discardUnfinishedDeploys(service: StateService, context: Context): Promise<void> {
  return discardDeploys(service, context, Number.MAX_SAFE_INTEGER)
}

export function startDeployRecovery(service: StateService, log: Logger): DeployRecovery {
  /** Owners could not prolong their leases either while the store was away. */
  let patientUntil = 0
  let running: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    running = check()
  }, renewEveryMs)
  return {
    check,
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }

  async function check(): Promise<void> {
    const now = service.now()
    try {
      if (now >= patientUntil) await discardDeploys(service, createContext(log), now)
      else await service.store.check()
    } catch (error) {
      patientUntil = service.now() + leaseMs
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
