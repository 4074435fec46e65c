/** Decides what follows an attempt: continue, retry later, or give up (docs/behaviour.md, Webhooks). Pure. */
import { pauseAfter } from '../../runtime/backoff.js'

export interface Health {
  /** Consecutive. */
  readonly failures: number
  /** Null: not failing. */
  readonly failingSince: number | null
  readonly lastError: string | null
  readonly retryAt: number
  readonly isGivenUp: boolean
}

const pauses = { firstMs: 1_000, longestMs: 600_000 } as const
const givenUpAfterMs = 24 * 3600 * 1000

/** `error` null: delivered. */
export function judgeAttempt(
  { failures, failingSince }: Pick<Health, 'failures' | 'failingSince'>,
  error: string | null,
  nowMs: number,
): Health {
  if (error === null)
    return { failures: 0, failingSince: null, lastError: null, retryAt: 0, isGivenUp: false }
  const since = failingSince ?? nowMs
  return {
    failures: failures + 1,
    failingSince: since,
    lastError: error,
    retryAt: nowMs + pauseAfter(failures + 1, pauses),
    isGivenUp: nowMs - since >= givenUpAfterMs,
  }
}
