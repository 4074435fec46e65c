/** How long to wait before the next attempt: twice as long after each failure, up to a bound. */

interface Backoff {
  readonly firstMs: number
  readonly longestMs: number
}

/** `failures` in a row so far; after the first one it is `firstMs`. */
export function pauseAfter(failures: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(firstMs * 2 ** Math.max(0, failures - 1), longestMs)
}

/** Anywhere between the two: many that failed together do not come back together. */
export function pickBetween(leastMs: number, mostMs: number): number {
  return leastMs + Math.random() * (mostMs - leastMs)
}
