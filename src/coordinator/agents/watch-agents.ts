/** Waits for agents: polls their rows after hints, and every second without one. */
import type { HintSubject } from '../bus/bus.js'
import { agentChangedSubject } from '../bus/subjects.js'
import { Hint } from '../../runtime/hint.js'
import { pauseFor } from '../../runtime/pause.js'
import type { StateService } from '../service.js'

/** Hints may be lost (the bus delivers at most once). */
const withoutHintMs = 1000
/** Reports of many agents arrive within milliseconds: one poll serves them all. */
const pollPauseMs = 20
/** A poll of a large fleet takes long; polling uses at most a quarter of the time. */
const pausesPerPoll = 3
const longestPauseMs = 200

interface WatchOptions {
  /** Hints that trigger a poll, instead of those about agents. */
  readonly hints?: HintSubject<unknown>
  /**
   * Number of agents that must change before another poll is likely to succeed, according to the last poll. With fewer hints the
   * next poll waits for `longestPauseMs`, because any agent may have disconnected.
   */
  readonly countMissing?: () => number
}

/**
 * Calls `poll` until it returns something other than undefined, or until `untilMs` (clock of the service).
 * Returns undefined when the time is over or the coordinator stops.
 */
export async function watchAgents<T>(
  service: StateService,
  poll: () => Promise<T | undefined>,
  untilMs: number,
  { hints, countMissing = () => 1 }: WatchOptions = {},
): Promise<T | undefined> {
  const { signal } = service.background
  const hint = new Hint()
  const enough = new Hint()
  const changed = new Set<number>()
  let missing = 1
  const wake = (): void => {
    hint.give()
    enough.give()
  }
  const note = (): void => {
    if (changed.size > 0) hint.give()
    if (changed.size >= missing) enough.give()
  }
  const subscription = hints
    ? service.bus.subscribe(hints, wake)
    : service.bus.subscribe(agentChangedSubject, ({ agentIds }) => {
        for (const id of agentIds) changed.add(id)
        note()
      })
  signal.addEventListener('abort', wake)
  try {
    for (;;) {
      hint.take()
      enough.take()
      changed.clear()
      const polledAtMs = performance.now()
      const seen = await poll()
      if (seen !== undefined) return seen
      missing = countMissing()
      note()
      const leftMs = untilMs - service.now()
      if (leftMs <= 0 || signal.aborted) return undefined
      const pollMs = performance.now() - polledAtMs
      const restMs = Math.min(Math.max(pollPauseMs, pausesPerPoll * pollMs), longestPauseMs)
      await pauseFor(Math.min(restMs, leftMs))
      await hint.wait(Math.min(withoutHintMs, leftMs))
      await enough.wait(Math.min(longestPauseMs, leftMs))
    }
  } finally {
    subscription.close()
    signal.removeEventListener('abort', wake)
  }
}
