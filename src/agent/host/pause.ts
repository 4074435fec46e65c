/** Waits a while, or until it is told to stop. */

/** Resolves after `waitMs`, or at once when the signal is aborted; never rejects. */
export function pauseFor(waitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve()
      return
    }
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, waitMs)
    signal.addEventListener('abort', end)
  })
}
