/** The time by which mechanisms wait. Tests give one of their own. */

export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  nowMs(): number
  /** Calls `ring` after `waitMs`; the answered function prevents it. */
  after(waitMs: number, ring: () => void, holdsProcess: boolean): () => void
}

/** What a timer of Node can wait at most. */
const longestTimerMs = 2 ** 31 - 1

export const processClock: Clock = {
  nowMs: () => performance.now(),
  after: (waitMs, ring, holdsProcess) => {
    // What was due a moment ago: Node 24 warns of negative waits.
    const timer = setTimeout(ring, Math.min(Math.max(waitMs, 0), longestTimerMs))
    if (!holdsProcess) timer.unref()
    return () => {
      clearTimeout(timer)
    }
  },
}
