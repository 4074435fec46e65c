/** A loop that hints of the bus wake: what is decided from rows is looked at soon after they change, whoever changed them. */
import { startLoop, type LoopOptions } from '../../runtime/loop.js'
import type { Bus, HintSubject } from './bus.js'

export interface HintedLoop {
  /** Resolves when the pass that runs has ended. */
  close(): Promise<void>
}

interface HintedLoopOptions extends LoopOptions {
  readonly hints: readonly HintSubject<unknown>[]
  /** Hints within this time share a pass. */
  readonly gatherMs: number
}

export function startHintedLoop(
  bus: Bus,
  { hints, gatherMs, ...options }: HintedLoopOptions,
): HintedLoop {
  const loop = startLoop(options)
  const subscriptions = hints.map((subject) =>
    bus.subscribe(subject, () => {
      loop.wake(gatherMs)
    }),
  )
  return {
    close: async () => {
      for (const subscription of subscriptions) subscription.close()
      await loop.close()
    },
  }
}
