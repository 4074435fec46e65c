/**
 * The periodic tasks of several coordinators: each is run by one process at a time, the holder of its lease. A holder
 * keeps the lease while it renews it in time; after a process has died, another takes the lease when it expires.
 *
 * Expiry depends on the clocks of the hosts, which must agree within seconds, as for heartbeats. A wrong clock moves
 * tasks needlessly; it cannot make two processes write, because the epochs prevent that.
 */
import { randomUUID } from 'node:crypto'
import { holdsLease, releaseLeases, renewLease, takeLease, type Lease } from './lease-queries.js'
import type { Queries, Store } from './store.js'
import { startLoop } from '../../runtime/loop.js'

type PeriodicTask =
  | 'silence'
  | 'placement'
  | 'cleanup'
  | 'invalidations'
  | 'certificates'
  | 'problems'
  | 'webhooks'
  | 'rollouts'

export interface Leases {
  /** This process, as leases and deploys name it. */
  readonly processId: string
  /**
   * Runs the work if this process holds or gets the task's lease. Returns undefined while another process has it, or if
   * another got it before the work wrote anything.
   */
  run<T>(task: PeriodicTask, work: (lease: Lease) => Promise<T>): Promise<T | undefined>
  /** Releases the leases of this process: others need not wait. */
  release(): Promise<void>
}

/** How long a dead process keeps its periodic tasks and deploys. */
export const leaseMs = 10_000
/** Three attempts before a lease expires. */
export const renewEveryMs = leaseMs / 3

/** Thrown in the work of a task whose lease another process has taken. */
class LostLease extends Error {
  override readonly name = 'LostLease'
}

interface LeaseParts {
  readonly store: Store
  readonly now: () => number
  /** No other process shares the store: leases of an earlier process are taken at once. */
  readonly isAlone: boolean
}

export function createLeases({ store, now, isAlone }: LeaseParts): Leases {
  const holder = randomUUID()
  const asked = new Map<
    PeriodicTask,
    { readonly lease: Lease | undefined; readonly askAgainAt: number }
  >()

  return {
    processId: holder,

    run: async (task, work) => {
      const lease = await findLease(task)
      if (!lease) return undefined
      // A lease that cannot be renewed expires, and the work's own writes then fail.
      const renewing = startLoop({
        log: null,
        everyMs: renewEveryMs,
        pass: () => renewLease(store.queries, lease, now() + leaseMs),
      })
      try {
        return await work(lease)
      } catch (error) {
        if (!(error instanceof LostLease)) throw error
        asked.delete(task)
        return undefined
      } finally {
        await renewing.close()
      }
    },

    release: async () => {
      asked.clear()
      await releaseLeases(store.queries, holder)
    },
  }

  /** Queries the store only every `renewEveryMs`: a task's writes are conditional anyway. */
  async function findLease(task: PeriodicTask): Promise<Lease | undefined> {
    const known = asked.get(task)
    if (known && now() < known.askAgainAt) return known.lease
    const askedAt = now()
    const wanted = {
      task,
      holder,
      expiresAt: askedAt + leaseMs,
      now: isAlone ? Number.MAX_SAFE_INTEGER : askedAt,
    }
    const lease = await store.decide((queries) => takeLease(queries, wanted))
    asked.set(task, { lease, askAgainAt: askedAt + renewEveryMs })
    return lease
  }
}

/** Call under the decision lock, before a task writes. Throws if another process has the task now. */
export async function requireLease(queries: Queries, lease: Lease): Promise<void> {
  if (!(await holdsLease(queries, lease)))
    throw new LostLease(`another coordinator has the lease of ${lease.task} now`)
}
