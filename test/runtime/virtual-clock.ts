/** A clock that advances only on request. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../src/runtime/clock.js'

interface VirtualClock extends Clock {
  /** Advances by this time; runs each due timer in order, with its immediate consequences before the next. */
  pass(ms: number): Promise<void>
  sleep(ms: number): Promise<void>
  /** Pending timers. */
  readonly waiting: number
}

export function createVirtualClock(): VirtualClock {
  let nowMs = 0
  let timers: { readonly atMs: number; readonly ring: () => void }[] = []
  const clock: VirtualClock = {
    nowMs: () => nowMs,
    after: (waitMs, ring) => {
      const timer = { atMs: nowMs + Math.max(0, waitMs), ring }
      timers.push(timer)
      return () => {
        timers = timers.filter((one) => one !== timer)
      }
    },
    sleep: (ms) => new Promise((resolve) => clock.after(ms, resolve, true)),
    pass: async (ms) => {
      const untilMs = nowMs + ms
      await settled()
      for (let next = takeNext(untilMs); next; next = takeNext(untilMs)) {
        nowMs = next.atMs
        next.ring()
        await settled()
      }
      nowMs = untilMs
    },
    get waiting() {
      return timers.length
    },
  }
  return clock

  function takeNext(untilMs: number) {
    const [next] = timers.toSorted((a, b) => a.atMs - b.atMs)
    if (!next || next.atMs > untilMs) return undefined
    timers = timers.filter((one) => one !== next)
    return next
  }
}

/** Lets promise chains of a few turns complete. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn()
}
