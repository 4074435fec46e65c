/** The clock for everything that waits. Tests pass their own. */

export interface Clock {
  /** Milliseconds since an arbitrary moment; monotonic. */
  nowMs(): number
  /** Calls `ring` after `waitMs`; the returned function cancels it. */
  after(waitMs: number, ring: () => void, holdsProcess: boolean): () => void
}

/** The longest wait of a Node timer. */
const longestTimerMs = 2 ** 31 - 1

export const processClock: Clock = {
  nowMs: () => performance.now(),
  after: (waitMs, ring, holdsProcess) => {
    // The wait is negative when the time has just passed: Node 24 warns of that.
    const timer = setTimeout(ring, Math.min(Math.max(waitMs, 0), longestTimerMs))
    if (!holdsProcess) timer.unref()
    return () => {
      clearTimeout(timer)
    }
  },
}
