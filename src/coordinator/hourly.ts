/** Work that is done once an hour, at the same minute of each, so that coordinators which share a store meet at its lease. */
import type { Logger } from 'pino'
import { startLoop } from '../runtime/loop.js'

export interface HourlyWork {
  stop(): Promise<void>
}

const hourMs = 3_600_000
const minuteOfHourMs = 7 * 60_000

/** `name` is what a failure is logged as; the next hour tries again. */
export function startHourly(name: string, log: Logger, work: () => Promise<void>): HourlyWork {
  const loop = startLoop({
    ...{ log, trouble: `${name} failed`, everyMs: hourMs, holdsProcess: false },
    firstMs: msToNextPass(Date.now()),
    pass: async ({ nextIn }) => {
      try {
        await work()
      } finally {
        nextIn(msToNextPass(Date.now()))
      }
    },
  })
  return { stop: () => loop.close() }
}

/** `nowAt` as of `Date.now()`. More than 0, at most an hour. */
export function msToNextPass(nowAt: number): number {
  return hourMs - ((nowAt - minuteOfHourMs) % hourMs)
}
