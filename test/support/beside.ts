/** How tests of a file run side by side, where most of them is waiting (`t.jobs` says how many). */

/** A new object each time: tap keeps what it is given, and writes into it. */
export function beside(timeoutMs?: number): { buffered: true; timeout?: number } {
  return { buffered: true, ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }) }
}
