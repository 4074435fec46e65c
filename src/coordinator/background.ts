/** Work that outlives the call that started it: a deploy continues after its caller has stopped waiting. */
import type { Context } from '../context.js'
import { FleetError } from '../errors.js'
import { waitAtMost } from '../runtime/pause.js'

export interface BackgroundWork {
  /** Fires when the coordinator stops; unfinished work is completed or discarded at its next start. */
  readonly signal: AbortSignal
  /**
   * Waits for the work at most `waitMs`: returns its result, or undefined if it is still running. A failure after
   * that is logged.
   */
  follow<T>(context: Context, work: Promise<T>, waitMs: number): Promise<T | undefined>
  /** Fires the signal and waits until all work has ended. */
  stop(): Promise<void>
}

export function createBackgroundWork(): BackgroundWork {
  const controller = new AbortController()
  const running = new Set<Promise<unknown>>()
  return {
    signal: controller.signal,
    follow: (context, work, waitMs) => {
      running.add(work)
      let waiting = true
      work
        .catch((error: unknown) => {
          if (waiting) return
          if (error instanceof FleetError)
            context.log.warn({ errorKey: error.errorKey }, error.message)
          else context.log.error({ err: error }, 'work in the background failed')
        })
        .finally(() => running.delete(work))
        .catch(() => undefined)
      return waitAtMost(waitMs, work, () => undefined).finally(() => (waiting = false))
    },
    stop: async () => {
      controller.abort()
      await Promise.allSettled(running)
    },
  }
}
