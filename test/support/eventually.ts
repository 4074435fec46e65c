/** Waits for something to become true without guessing how long it takes. */

/**
 * After this a thing is broken and not slow, on a busy machine too: twice as long as the product itself waits at most (30 s, a
 * deploy for its agents). What passes never waits for it.
 */
export const waitLimitMs = 60_000
/** Longer the longer it takes already, by a twentieth: looking costs the processors that what is awaited needs. */
const shortestPauseMs = 20
const longestPauseMs = 100

/** Calls `look` until it answers something truthy; throws the last reason when that lasts longer than `timeoutMs`. */
export async function eventually<T>(
  what: string,
  look: () => T | Promise<T>,
  timeoutMs: number = waitLimitMs,
): Promise<NonNullable<T>> {
  const startedAt = performance.now()
  let last: unknown = 'it stayed false'
  for (;;) {
    try {
      const seen = await look()
      if (seen) return seen
    } catch (error) {
      last = error
    }
    const waitedMs = performance.now() - startedAt
    if (waitedMs > timeoutMs)
      throw new Error(`not within ${timeoutMs} ms: ${what}`, { cause: last })
    const pauseMs = Math.min(shortestPauseMs + waitedMs / 20, longestPauseMs)
    await new Promise((resume) => setTimeout(resume, pauseMs))
  }
}
