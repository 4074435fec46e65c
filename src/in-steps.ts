/** Runs long work in short steps, so that other callers are served between them. */
import { setImmediate as servedOthers } from 'node:timers/promises'

/** Others are served after this time, and the step that takes it: short work is not worth a turn of the event loop. */
const turnMs = 5

export async function runInSteps<T>(steps: Generator<void, T, void>): Promise<T> {
  let sinceMs = performance.now()
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (performance.now() - sinceMs < turnMs) continue
    await servedOthers()
    sinceMs = performance.now()
  }
}

/** For callers without others to serve meanwhile. */
export function runAtOnce<T>(steps: Generator<void, T, void>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
