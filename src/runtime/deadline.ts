/** A signal aborted after a time or with another signal. Its timer keeps it alive: Node 20 may collect AbortSignal.any of a time-out. */

interface Deadline {
  readonly signal: AbortSignal
  stop(): void
}

export function startDeadline(afterMs: number, outer: AbortSignal): Deadline {
  const controller = new AbortController()
  const end = (): void => {
    controller.abort()
  }
  const timer = setTimeout(end, afterMs)
  outer.addEventListener('abort', end, { once: true })
  if (outer.aborted) end()
  return {
    signal: controller.signal,
    stop: () => {
      clearTimeout(timer)
      outer.removeEventListener('abort', end)
    },
  }
}
