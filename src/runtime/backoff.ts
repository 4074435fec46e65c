/** The pause before the next attempt: doubled after each failure, up to a limit. */

interface Backoff {
  readonly firstMs: number
  readonly longestMs: number
}

/** `failures`: consecutive failures so far; after the first one the pause is `firstMs`. */
export function pauseAfter(failures: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(firstMs * 2 ** Math.max(0, failures - 1), longestMs)
}

/** A random time between the two, so that clients that failed together do not return together. */
export function pickBetween(leastMs: number, mostMs: number): number {
  return leastMs + Math.random() * (mostMs - leastMs)
}
