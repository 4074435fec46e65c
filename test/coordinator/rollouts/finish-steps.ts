/** Runs work in steps without pauses between them and returns its result. */
export function finish<T>(steps: Generator<void, T, void>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
