/** Retries until it succeeds. */
import pRetry from 'p-retry'
import { pauseFor } from './pause.js'

interface RetryOptions {
  /** The wait after this many consecutive failures. */
  readonly pauseMs: (failures: number) => number
  readonly signal: AbortSignal
}

/** Rejects only when the signal is aborted, with its reason. */
export function retryForever<T>(
  attempt: () => Promise<T>,
  { pauseMs, signal }: RetryOptions,
): Promise<T> {
  const tryOnce = async (): Promise<T> => {
    try {
      return await attempt()
    } catch (cause) {
      // p-retry gives up on a TypeError.
      throw new Error('it is tried again', { cause })
    }
  }
  return pRetry(tryOnce, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 0,
    signal,
    onFailedAttempt: ({ attemptNumber }) => pauseFor(pauseMs(attemptNumber), signal),
  })
}
