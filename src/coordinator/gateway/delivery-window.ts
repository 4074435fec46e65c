/**
 * Tracks the log entries sent to one agent and those recorded as done: in order, at most 64 entries ahead, retried with
 * back-off from the first unrecorded entry (docs/behaviour.md, Delivery). Pure.
 */
import { pauseAfter } from '../../runtime/backoff.js'

/** docs/behaviour.md, Delivery. At most this many entries are repeated after a kill. */
export const windowEntries = 64
/** A restarting cache is back within a second; an absent one is retried twice a minute. */
const retries = { firstMs: 500, longestMs: 30_000 }

export interface DeliveryWindow {
  /** The newest position recorded as done in the store. */
  readonly recorded: number
  /** Sent but not recorded, in order. */
  readonly inFlight: readonly number[]
  /** The agent must drop its queue: the next message starts behind `recorded`. */
  readonly isRestart: boolean
  /** Consecutive faults. */
  readonly faults: number
  /** Nothing is sent before this time. */
  readonly notBeforeMs: number
}

export function openWindow(recorded: number): DeliveryWindow {
  return { recorded, inFlight: [], isRestart: true, faults: 0, notBeforeMs: 0 }
}

/** Returns how many entries may be sent now. */
export function findRoom(window: DeliveryWindow, nowMs: number): number {
  return nowMs < window.notBeforeMs ? 0 : windowEntries - window.inFlight.length
}

/** Returns the newest sent position; the next entry has a higher one. */
export function lastSent({ recorded, inFlight }: DeliveryWindow): number {
  return inFlight.at(-1) ?? recorded
}

export function noteSent(window: DeliveryWindow, positions: readonly number[]): DeliveryWindow {
  return { ...window, inFlight: [...window.inFlight, ...positions], isRestart: false }
}

export function noteRecorded(window: DeliveryWindow, position: number): DeliveryWindow {
  if (position <= window.recorded) return window
  const inFlight = window.inFlight.filter((one) => one > position)
  return { ...window, recorded: position, inFlight, faults: 0 }
}

/** `settled` is the last entry that the agent completed before the fault; it dropped all later ones. */
export function noteFault(window: DeliveryWindow, settled: number, nowMs: number): DeliveryWindow {
  const faults = window.faults + 1
  return {
    ...window,
    inFlight: window.inFlight.filter((one) => one <= settled),
    isRestart: true,
    faults,
    notBeforeMs: nowMs + pauseAfter(faults, retries),
  }
}

/** Clears the back-off, because the cause of the fault may be gone. */
export function retryNow(window: DeliveryWindow): DeliveryWindow {
  return { ...window, notBeforeMs: 0 }
}
