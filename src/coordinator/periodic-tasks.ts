/** The periodic tasks of a coordinator. */
import type { Logger } from 'pino'
import { removeOldApiLogs } from './api-log/api-log.js'
import { startCertificateFollower } from './certificates/follow-certificates.js'
import { startProblemFollower } from './problem-follower/problem-follower.js'
import { startPlacementFollower } from './deploying/placement-follower.js'
import { startDeployRecovery } from './deploying/recover.js'
import { readAllAgentIds } from './fleet/agent-rows.js'
import { deleteUnusedSources } from './fleet/sources.js'
import { removeOldRollouts } from './rollouts/remove-old.js'
import { startRolloutRunner } from './rollouts/rollout-runner.js'
import { startHourly, type HourlyWork } from './hourly.js'
import type { Identity } from './identity/identity.js'
import { removeExpiredSessions } from './identity/sessions.js'
import {
  removeOldInvalidations,
  startInvalidationExpiry,
} from './invalidations/invalidation-expiry.js'
import type { StateService } from './service.js'
import { createGateAsker } from './webhooks/ask-gate.js'
import { startWebhookDelivery } from './webhooks/webhook-delivery.js'

export function startPeriodicTasks(service: StateService, identity: Identity, log: Logger) {
  const follower = startPlacementFollower(service, log)
  const certificates = startCertificateFollower(service, log)
  const problems = startProblemFollower(service, log)
  const webhooks = startWebhookDelivery(identity, log)
  const rollouts = startRolloutRunner(service, createGateAsker(identity), log)
  const recovery = startDeployRecovery(service, log)
  const invalidations = startInvalidationExpiry(service, log)
  const cleanups = startCleanups(service, identity, log)
  return {
    close: async (): Promise<void> => {
      await Promise.all(cleanups.map((cleanup) => cleanup.stop()))
      await follower.close()
      await certificates.close()
      await problems.close()
      await webhooks.close()
      await rollouts.close()
      await recovery.stop()
      await invalidations.close()
    },
  }
}

/** Hourly cleanups, each run by one of the coordinators. */
function startCleanups(service: StateService, { keys }: Identity, log: Logger): HourlyWork[] {
  const clean = (name: string, work: () => Promise<unknown>): HourlyWork =>
    startHourly(name, log, async () => {
      await service.leases.run('cleanup', work)
    })
  return [
    clean('removing old entries of the API log', () => removeOldApiLogs(service)),
    clean('removing expired sessions', () => removeExpiredSessions(service)),
    clean('removing old invalidations', () => removeOldInvalidations(service)),
    clean('removing old rollouts', () => removeOldRollouts(service)),
    // Every coordinator runs this, because it may have data of the agents in memory.
    startHourly('removing statistics of deleted agents', log, async () => {
      await service.statistics.retain(await readAllAgentIds(service.store.queries), service.now())
    }),
    clean('removing unused sources', () => service.store.decide(deleteUnusedSources)),
    startHourly('rotating signing keys', log, async () => {
      await service.leases.run('cleanup', () => keys.rotate())
      await keys.reload()
    }),
  ]
}
