/** Runs long work in short steps, so that other callers are served between them. */
import { setImmediate as servedOthers } from 'node:timers/promises'

export async function runInSteps<T>(steps: Generator<void, T, void>): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await servedOthers()
  }
}

/** For callers without others to serve meanwhile. */
export function runAtOnce<T>(steps: Generator<void, T, void>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
