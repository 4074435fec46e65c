/** Waits for something to become true without guessing how long it takes. */

const defaultTimeoutMs = 60_000
const pauseMs = 20

/** Calls `look` until it answers something truthy; throws the last reason when that lasts longer than `timeoutMs`. */
export async function eventually<T>(
  what: string,
  look: () => T | Promise<T>,
  timeoutMs: number = defaultTimeoutMs,
): Promise<NonNullable<T>> {
  const giveUpAt = performance.now() + timeoutMs
  let last: unknown = 'it stayed false'
  for (;;) {
    try {
      const seen = await look()
      if (seen) return seen
    } catch (error) {
      last = error
    }
    if (performance.now() > giveUpAt)
      throw new Error(`not within ${timeoutMs} ms: ${what}`, { cause: last })
    await new Promise((resume) => setTimeout(resume, pauseMs))
  }
}
