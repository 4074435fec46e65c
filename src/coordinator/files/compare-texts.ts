/** Two texts against each other: short ones at once, others in a thread of their own, one comparison after the other. */
import { FleetError } from '../../errors.js'
import { Semaphore } from '../../runtime/semaphore.js'
import { askThread } from './ask-thread.js'
import { compareHere, compareTimeoutMs, type Comparison, type NamedText } from './compare-here.js'

/** Together: some milliseconds, which is less than a thread takes to start. */
const shortCharacters = 8 * 1024
/** Comparisons that wait for their turn; each may take all of its time. */
export const waitingMost = 16
/** For the thread to start, and to be given the texts. */
const graceMs = 5_000

const semaphore = new Semaphore({
  waitingMost,
  refuse: () =>
    new FleetError('unavailable', 'file', `${waitingMost} comparisons wait already`, {
      retryAfterSeconds: compareTimeoutMs / 1000,
    }),
})

/** `thread`: for tests that do not run what the compiler made. Null when they differ too much to be compared in time. Throws FleetError 'unavailable'. */
export async function compareTexts(
  from: NamedText,
  to: NamedText,
  thread = new URL('./compare-thread.js', import.meta.url),
): Promise<string | null> {
  if (from.text.length + to.text.length <= shortCharacters) return compareHere({ from, to })
  const comparison: Comparison = { from, to }
  return semaphore.run(() => askThread<string>(thread, comparison, compareTimeoutMs + graceMs))
}
