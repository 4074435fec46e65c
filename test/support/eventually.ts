/** Waits for something to become true without guessing how long it takes. */

/**
 * After this a thing is broken and not slow, on a busy machine too: twice as long as the product itself waits at most (30 s, a
 * deploy for its agents). What passes never waits for it.
 */
export const waitLimitMs = 60_000
/**
 * A tenth of what it took already, and as long as the look took: looking costs the processors that what is awaited needs, and a look
 * takes longest while they are busy.
 */
const shortestPauseMs = 20
const longestPauseMs = 250

/** Calls `look` until it answers something truthy; throws the last reason when that lasts longer than `timeoutMs`. */
export async function eventually<T>(
  what: string,
  look: () => T | Promise<T>,
  timeoutMs: number = waitLimitMs,
): Promise<NonNullable<T>> {
  const startedAt = performance.now()
  let last: unknown = 'it stayed false'
  for (;;) {
    const lookedAt = performance.now()
    try {
      const seen = await look()
      if (seen) return seen
    } catch (error) {
      last = error
    }
    const now = performance.now()
    const waitedMs = now - startedAt
    if (waitedMs > timeoutMs)
      throw new Error(`not within ${timeoutMs} ms: ${what}; last: ${shorten(last)}`, {
        cause: last,
      })
    const pauseMs = Math.max(shortestPauseMs, waitedMs / 10, now - lookedAt)
    await new Promise((resume) => setTimeout(resume, Math.min(pauseMs, longestPauseMs)))
  }
}

const shownCharacters = 400

function shorten(reason: unknown): string {
  return (reason instanceof Error ? reason.message : String(reason)).slice(0, shownCharacters)
}
