/** Waiting for agents: looks at the rows again when a hint says that they changed, and every second without one. */
import { agentChangedSubject } from '../bus/subjects.js'
import type { StateService } from '../service.js'

/** Hints may be lost (the bus delivers at most once). */
const withoutHintMs = 1000
/** Reports of many agents arrive within milliseconds: one look serves them all. */
const betweenLooksMs = 20
/** Chosen by us: of a large fleet a look is long, and takes a quarter of the time at most. */
const pausesPerLook = 3
const longestPauseMs = 200

/**
 * Calls `look` until it answers something other than undefined, or until `untilMs` (clock of the service).
 * Answers undefined when time is over or the signal fired.
 */
export async function watchAgents<T>(
  service: StateService,
  look: () => Promise<T | undefined>,
  until: { readonly untilMs: number; readonly signal?: AbortSignal | undefined },
): Promise<T | undefined> {
  let hinted = false
  let wake = (): void => undefined
  const hint = (): void => {
    hinted = true
    wake()
  }
  const subscription = service.bus.subscribe(agentChangedSubject, hint)
  until.signal?.addEventListener('abort', hint)
  try {
    for (;;) {
      hinted = false
      const lookedAtMs = performance.now()
      const seen = await look()
      if (seen !== undefined) return seen
      const leftMs = until.untilMs - service.now()
      if (leftMs <= 0 || until.signal?.aborted) return undefined
      const lookMs = performance.now() - lookedAtMs
      const restMs = Math.min(Math.max(betweenLooksMs, pausesPerLook * lookMs), longestPauseMs)
      await pause(Math.min(restMs, leftMs))
      // Read through a function: the hint may have come during the pause.
      if (!isHinted()) await waitForHint(Math.min(withoutHintMs, leftMs))
    }
  } finally {
    subscription.close()
    until.signal?.removeEventListener('abort', hint)
  }

  function isHinted(): boolean {
    return hinted
  }

  function waitForHint(ms: number): Promise<void> {
    return new Promise((resume) => {
      const timer = setTimeout(resume, ms)
      wake = () => {
        clearTimeout(timer)
        resume()
      }
    })
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resume) => {
    setTimeout(resume, ms)
  })
}
