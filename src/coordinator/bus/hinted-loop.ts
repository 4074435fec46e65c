/** A loop woken by hints of the bus: decisions based on rows are revised soon after any process changes the rows. */
import { startLoop, type LoopOptions } from '../../runtime/loop.js'
import type { Bus, HintSubject } from './bus.js'

export interface HintedLoop {
  /** Resolves when the running pass has ended. */
  close(): Promise<void>
}

interface HintedLoopOptions extends LoopOptions {
  readonly hints: readonly HintSubject<unknown>[]
  /** Hints within this time share one pass. */
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
