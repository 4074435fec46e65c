/**
 * What one agent has been sent of the log and what of that is recorded: in order, at most 64 entries ahead, tried again with
 * back-off from the first that is not recorded (docs/behaviour.md, Delivery). Values in, values out.
 */
import { pauseAfter } from '../../runtime/backoff.js'

/** docs/behaviour.md, Delivery. What is repeated at most when somebody is killed. */
export const windowEntries = 64
/** A restarting cache is back within a second; one that is gone is retried twice a minute. */
const retries = { firstMs: 500, longestMs: 30_000 }

export interface DeliveryWindow {
  /** The newest position that the store knows to be done. */
  readonly recorded: number
  /** Sent and not recorded, in order. */
  readonly inFlight: readonly number[]
  /** The agent forgets what it still has: the next message begins behind `recorded`. */
  readonly isRestart: boolean
  /** In a row. */
  readonly faults: number
  /** Nothing is sent before. */
  readonly notBeforeMs: number
}

export function openWindow(recorded: number): DeliveryWindow {
  return { recorded, inFlight: [], isRestart: true, faults: 0, notBeforeMs: 0 }
}

/** How many may be sent now. */
export function findRoom(window: DeliveryWindow, nowMs: number): number {
  return nowMs < window.notBeforeMs ? 0 : windowEntries - window.inFlight.length
}

/** The newest that was sent: what is next has a higher position. */
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

/** `settled`: the last that the agent did before the fault; what it holds behind that it has dropped. */
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

/** What was wrong may be right now. */
export function retryNow(window: DeliveryWindow): DeliveryWindow {
  return { ...window, notBeforeMs: 0 }
}
