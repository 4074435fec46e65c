/** A deploy belongs to the process that runs it for as long as that prolongs its lease. */
import { renewDeploy, type DeployHold } from '../fleet/deploy-queries.js'
import { leaseMs, renewEveryMs } from '../store/leases.js'
import type { StateService } from '../service.js'
import { startLoop } from '../../runtime/loop.js'

interface DeployLease {
  /** Prolongs no more: what is not decided soon is ended by another. */
  stop(): Promise<void>
  /** The coordinator stops: another need not wait until the lease is over. */
  giveUp(): Promise<void>
}

export function keepDeployLease(service: StateService, deploy: DeployHold): DeployLease {
  const { store, now } = service
  // When the store is away, or another took the deploy over, the decision is refused.
  const renewing = startLoop({
    ...{ log: null, everyMs: renewEveryMs },
    pass: () => renewDeploy(store.queries, deploy, now() + leaseMs),
  })
  return {
    stop: () => renewing.close(),
    giveUp: async () => {
      await renewing.close()
      await renewDeploy(store.queries, deploy, 0).catch(() => undefined)
    },
  }
}
