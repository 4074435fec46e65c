/**
 * Ends entries without a report: those whose ttl has passed, and those that wait for no agent any more because agents were
 * deleted or two coordinators recorded their parts at once. Only one of several coordinators does this.
 */
import type { Logger } from 'pino'
import { endWhatIsDone } from './delivery-queries.js'
import { deleteEndedBefore, findEndedBehind, hasOpen, readExpired } from './invalidation-queries.js'
import { deleteUnusedSet } from './target-queries.js'
import { requireLease } from '../store/leases.js'
import type { StateService } from '../service.js'
import { endPending } from './change-invalidation.js'
import {
  observeInvalidationsDone,
  notifyInvalidationsEnded,
  notifyInvalidationsLogged,
} from './invalidation-hints.js'
import { startLoop, type Loop } from '../../runtime/loop.js'

const checkEveryMs = 1000
/** Entries expired per transaction. */
const expiredAtOnce = 50
/** Retention of ended entries: time and count. */
const keptMs = 7 * 24 * 3600 * 1000
const maxKept = 100_000
const deletedAtOnce = 500

export function startInvalidationExpiry(service: StateService, log: Logger): Loop {
  return startLoop({
    log,
    trouble: 'overdue invalidations could not be ended',
    everyMs: checkEveryMs,
    pass: () => endOverdueInvalidations(service),
  })
}

export async function endOverdueInvalidations(service: StateService): Promise<void> {
  const now = service.now()
  if (!(await hasOpen(service.store.queries, 1))) return
  await service.leases.run('invalidations', async (lease) => {
    const done = await service.store.decide(
      async (changes) => {
        await requireLease(changes, lease)
        return endWhatIsDone(changes, null, now)
      },
      { durable: false },
    )
    observeInvalidationsDone(service, done)
    for (;;) {
      const expired = await service.store.decide(async (changes) => {
        await requireLease(changes, lease)
        const entries = await readExpired(changes, now, expiredAtOnce)
        for (const entry of entries) await endPending(changes, entry, 'expired', now)
        return entries.map(({ id }) => id)
      })
      notifyInvalidationsEnded(service, expired)
      if (expired.length > 0) notifyInvalidationsLogged(service, expired)
      if (expired.length < expiredAtOnce) return
    }
  })
}

/** Runs hourly. */
export async function removeOldInvalidations(service: StateService): Promise<void> {
  const { store, now } = service
  const behind = await findEndedBehind(store.queries, maxKept)
  const before = Math.max(now() - keptMs, behind ?? 0)
  let deleted = deletedAtOnce
  while (deleted === deletedAtOnce)
    deleted = await deleteEndedBefore(store.queries, before, deletedAtOnce)
  // One at a time, because each has thousands of rows in a large fleet, and deploys wait for the lock.
  let isLeft = true
  while (isLeft) isLeft = await store.decide(deleteUnusedSet, { durable: false })
}
