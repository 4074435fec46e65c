/**
 * Kept wishes that were tried in vain: which groups are to be left alone for now. A wish whose VCL does not compile would
 * otherwise be loaded again with every change of the fleet, and each time keep the caches' managers busy.
 *
 * Kept in this process only: another coordinator that takes the duty over tries once more.
 */
import { pauseAfter } from '../../runtime/backoff.js'

export interface KeptWishes {
  /** Whether this wish is to be tried now. */
  isDue(groupId: number, wish: string, now: number): boolean
  /** Answers when it is tried again, in milliseconds since 1970. */
  recordFailure(groupId: number, wish: string, now: number): number
  forget(groupId: number): void
}

interface Failed {
  /** A wish that is another one is tried at once. */
  readonly wish: string
  readonly failures: number
  readonly againAt: number
}

/** How often caches are kept busy by what may fail again. */
export const retries = { firstMs: 15_000, longestMs: 10 * 60_000 }

export function createKeptWishes(): KeptWishes {
  /** At most one entry for each group; those of groups that are tried no longer go after a while. */
  const failed = new Map<number, Failed>()
  return {
    isDue: (groupId, wish, now) => {
      const last = failed.get(groupId)
      return last?.wish !== wish || now >= last.againAt
    },
    recordFailure: (groupId, wish, now) => {
      const last = failed.get(groupId)
      const failures = last?.wish === wish ? last.failures + 1 : 1
      const pauseMs = pauseAfter(failures, retries)
      for (const [id, { againAt }] of failed)
        if (againAt + retries.longestMs < now) failed.delete(id)
      failed.set(groupId, { wish, failures, againAt: now + pauseMs })
      return now + pauseMs
    },
    forget: (groupId) => {
      failed.delete(groupId)
    },
  }
}
