/** Runs tests of a file in parallel, for tests that mostly wait (`t.jobs` sets the number). */

/** A new object each time: tap keeps the given one and writes into it. */
export function beside(timeoutMs?: number): { buffered: true; timeout?: number } {
  return { buffered: true, ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }) }
}
