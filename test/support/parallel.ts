/** Tests of a file that run in parallel, because most of their time is waiting (`t.jobs` sets how many). */

/** Returns a new object each time, because tap keeps it and writes into it. */
export function parallel(): { buffered: true } {
  return { buffered: true }
}
