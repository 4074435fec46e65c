/** Waiting for a time, or with a limit for work that may take too long. */

/** Resolves after `waitMs`, or as soon as the signal is aborted; never rejects. */
export function pauseFor(waitMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve()
      return
    }
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, waitMs)
    signal?.addEventListener('abort', end)
  })
}

/** Settles like `work`, or after `waitMs` like `late`; the work continues. */
export async function waitAtMost<T, Late>(
  waitMs: number,
  work: Promise<T>,
  late: () => Late,
): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined
  const timeUp = new Promise<null>((resolve) => (timer = setTimeout(resolve, waitMs, null)))
  try {
    const ended = await Promise.race([work.then((value) => ({ value })), timeUp])
    return ended === null ? late() : ended.value
  } finally {
    clearTimeout(timer)
  }
}
