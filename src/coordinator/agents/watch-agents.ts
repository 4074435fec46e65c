/** Waiting for agents: polls the rows when a hint says that they changed, and every second without one. */
import type { HintSubject } from '../bus/bus.js'
import { agentChangedSubject } from '../bus/subjects.js'
import { Hint } from '../../runtime/hint.js'
import { pauseFor } from '../../runtime/pause.js'
import type { StateService } from '../service.js'

/** Hints may be lost (the bus delivers at most once). */
const withoutHintMs = 1000
/** Reports of many agents arrive within milliseconds: one poll serves them all. */
const pollPauseMs = 20
/** A poll of a large fleet takes long; it may use at most a quarter of the time. */
const pausesPerPoll = 3
const longestPauseMs = 200

/**
 * Calls `poll` until it answers something other than undefined, or until `untilMs` (clock of the service).
 * Answers undefined when time is over or the coordinator stops.
 */
export async function watchAgents<T>(
  service: StateService,
  poll: () => Promise<T | undefined>,
  untilMs: number,
  hints: HintSubject<unknown> = agentChangedSubject,
): Promise<T | undefined> {
  const { signal } = service.background
  const hint = new Hint()
  const subscription = service.bus.subscribe(hints, hint.give)
  signal.addEventListener('abort', hint.give)
  try {
    for (;;) {
      hint.take()
      const polledAtMs = performance.now()
      const seen = await poll()
      if (seen !== undefined) return seen
      const leftMs = untilMs - service.now()
      if (leftMs <= 0 || signal.aborted) return undefined
      const pollMs = performance.now() - polledAtMs
      const restMs = Math.min(Math.max(pollPauseMs, pausesPerPoll * pollMs), longestPauseMs)
      await pauseFor(Math.min(restMs, leftMs))
      await hint.wait(Math.min(withoutHintMs, leftMs))
    }
  } finally {
    subscription.close()
    signal.removeEventListener('abort', hint.give)
  }
}
