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

interface WatchOptions {
  /** What else than agents is to be polled again for. */
  readonly hints?: HintSubject<unknown>
  /**
   * How many agents have to change, as the last poll saw it, before another is likely to answer. Until there are hints of so many
   * it is left to `longestPauseMs`: any agent may have gone away.
   */
  readonly countMissing?: () => number
}

/**
 * Calls `poll` until it answers something other than undefined, or until `untilMs` (clock of the service).
 * Answers undefined when time is over or the coordinator stops.
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
