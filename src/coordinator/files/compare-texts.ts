/** Compares two texts: short ones inline, others in a thread, one comparison at a time. */
import { FleetError } from '../../errors.js'
import { Semaphore } from '../../runtime/semaphore.js'
import { askThread } from './ask-thread.js'
import { compareHere, compareTimeoutMs, type Comparison, type NamedText } from './compare-here.js'

/** The total of both texts; takes some milliseconds, less than starting a thread. */
const shortCharacters = 8 * 1024
/** The maximum number of queued comparisons; each may take its full time. */
export const maxWaiting = 16
/** The time for the thread to start and receive the texts. */
const graceMs = 5_000

const semaphore = new Semaphore({
  maxWaiting,
  refuse: () =>
    new FleetError('unavailable', 'file', `${maxWaiting} comparisons wait already`, {
      retryAfterSeconds: compareTimeoutMs / 1000,
    }),
})

/** Returns null if they differ too much to be compared in time. Throws FleetError 'unavailable'. `thread`: for tests of TS sources. */
export async function compareTexts(
  from: NamedText,
  to: NamedText,
  thread = new URL('./compare-thread.js', import.meta.url),
): Promise<string | null> {
  if (from.text.length + to.text.length <= shortCharacters) return compareHere({ from, to })
  const comparison: Comparison = { from, to }
  return semaphore.run(() => askThread<string>(thread, comparison, compareTimeoutMs + graceMs))
}
