/** A signal that is aborted after a time, or with another one. Held by its timer: what AbortSignal.any makes of a time-out may be collected before (Node 20). */

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
