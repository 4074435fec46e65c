/** A deploy belongs to the process that runs it for as long as that prolongs its lease. */
import { renewDeploy, type DeployHold } from '../fleet/deploy-queries.js'
import { leaseMs, renewEveryMs } from '../store/leases.js'
import type { StateService } from '../service.js'

interface DeployLease {
  /** Prolongs no more: what is not decided soon is ended by another. */
  stop(): void
  /** The coordinator stops: another need not wait until the lease is over. */
  giveUp(): Promise<void>
}

export function keepDeployLease(service: StateService, deploy: DeployHold): DeployLease {
  const { store, now } = service
  const timer = setInterval(() => {
    // A store that is away, or another that took the deploy over: the decision is refused then.
    renewDeploy(store.queries, deploy, now() + leaseMs).catch(() => undefined)
  }, renewEveryMs)
  return {
    stop: () => {
      clearInterval(timer)
    },
    giveUp: async () => {
      clearInterval(timer)
      await renewDeploy(store.queries, deploy, 0).catch(() => undefined)
    },
  }
}
