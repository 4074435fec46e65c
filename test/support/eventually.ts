/** Waits for a condition without guessing how long it takes. */

/**
 * A condition still false after this is broken, not slow, on a busy machine too: twice as long as the product itself waits at
 * most (30 s, a deploy for its agents). A passing test never waits this long.
 */
export const waitLimitMs = 60_000
/**
 * A pause is a tenth of the time waited so far, and at least as long as the last check took: checks use the processors that the
 * awaited work needs, and take longest while they are busy.
 */
const shortestPauseMs = 20
const longestPauseMs = 250

/** Calls `look` until it returns something truthy; throws the last reason when that takes longer than `timeoutMs`. */
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
