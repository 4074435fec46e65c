/** Waiting for agents: looks at the rows again when a hint says that they changed, and every second without one. */
import { agentChangedSubject } from '../bus/subjects.js'
import { Hint } from '../../runtime/hint.js'
import { pauseFor } from '../../runtime/pause.js'
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
 * Answers undefined when time is over or the coordinator stops.
 */
export async function watchAgents<T>(
  service: StateService,
  look: () => Promise<T | undefined>,
  untilMs: number,
): Promise<T | undefined> {
  const { signal } = service.background
  const hint = new Hint()
  const subscription = service.bus.subscribe(agentChangedSubject, hint.give)
  signal.addEventListener('abort', hint.give)
  try {
    for (;;) {
      hint.take()
      const lookedAtMs = performance.now()
      const seen = await look()
      if (seen !== undefined) return seen
      const leftMs = untilMs - service.now()
      if (leftMs <= 0 || signal.aborted) return undefined
      const lookMs = performance.now() - lookedAtMs
      const restMs = Math.min(Math.max(betweenLooksMs, pausesPerLook * lookMs), longestPauseMs)
      await pauseFor(Math.min(restMs, leftMs))
      await hint.wait(Math.min(withoutHintMs, leftMs))
    }
  } finally {
    subscription.close()
    signal.removeEventListener('abort', hint.give)
  }
}
