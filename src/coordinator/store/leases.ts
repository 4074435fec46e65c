/**
 * The periodic duties of several coordinators: each is done by one process at a time, the one that has its lease. Whoever
 * holds a lease keeps it while it comes back in time; of a process that died another takes it when it is over.
 *
 * Leases are judged by the clocks of the hosts, which must agree within seconds, as heartbeats need too. A clock that is
 * wrong moves duties needlessly; it cannot make two processes write, for that is held by the epochs.
 */
import { randomUUID } from 'node:crypto'
import { holdsLease, releaseLeases, renewLease, takeLease, type Term } from './lease-queries.js'
import type { Queries, Store } from './store.js'
import { startLoop } from '../../runtime/loop.js'

export type Duty = 'liveness' | 'placement' | 'cleanup' | 'invalidations'

export interface Leases {
  /** This process, as leases and deploys name it. */
  readonly processId: string
  /**
   * Does the work when this process has the duty, or gets it. Answers undefined while another has it, or when another
   * got it before the work wrote anything.
   */
  run<T>(duty: Duty, work: (term: Term) => Promise<T>): Promise<T | undefined>
  /** Gives back what this process has: others need not wait. */
  release(): Promise<void>
}

/** Chosen by us: how long a process that died keeps its duties and deploys. */
export const leaseMs = 10_000
/** Three attempts before a lease is over. */
export const renewEveryMs = leaseMs / 3

/** Thrown in the work of a duty that another process has meanwhile. */
class LostTerm extends Error {
  override readonly name = 'LostTerm'
}

interface LeaseParts {
  readonly store: Store
  readonly now: () => number
  /** No other process shares the store: what an earlier one left is taken at once. */
  readonly isAlone: boolean
}

export function createLeases({ store, now, isAlone }: LeaseParts): Leases {
  const holder = randomUUID()
  const asked = new Map<Duty, { readonly term: Term | undefined; readonly askAgainAt: number }>()

  return {
    processId: holder,

    run: async (duty, work) => {
      const term = await findTerm(duty)
      if (!term) return undefined
      // What cannot be renewed runs out, and the work's own writes say so.
      const renewing = startLoop({
        ...{ log: null, everyMs: renewEveryMs },
        pass: () => renewLease(store.queries, term, now() + leaseMs),
      })
      try {
        return await work(term)
      } catch (error) {
        if (!(error instanceof LostTerm)) throw error
        asked.delete(duty)
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

  /** Asked of the store only now and then: the writes of a duty are conditional anyway. */
  async function findTerm(duty: Duty): Promise<Term | undefined> {
    const known = asked.get(duty)
    if (known && now() < known.askAgainAt) return known.term
    const askedAt = now()
    const wanted = {
      duty,
      holder,
      expiresAt: askedAt + leaseMs,
      now: isAlone ? Number.MAX_SAFE_INTEGER : askedAt,
    }
    const term = await store.decide((queries) => takeLease(queries, wanted))
    asked.set(duty, { term, askAgainAt: askedAt + renewEveryMs })
    return term
  }
}

/** Under the decision lock, before a duty writes. Throws when another process has the duty now. */
export async function requireTerm(queries: Queries, term: Term): Promise<void> {
  if (!(await holdsLease(queries, term)))
    throw new LostTerm(`another coordinator has the duty ${term.duty} now`)
}
