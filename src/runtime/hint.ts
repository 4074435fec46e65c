/** A hint that another check is worthwhile. A hint given while nothing waits for it is kept. */

export class Hint {
  #isGiven = false
  #wake: () => void = () => undefined

  /** Wakes the waiter; if there is none, the next `wait` returns at once. */
  readonly give = (): void => {
    this.#isGiven = true
    this.#wake()
  }

  /** Clears the hint: later reads include what earlier hints announced. */
  take(): void {
    this.#isGiven = false
  }

  /** Resolves after `waitMs`, or as soon as there is a hint that was not taken. */
  async wait(waitMs: number): Promise<void> {
    if (this.#isGiven) return
    await new Promise<void>((resume) => {
      const timer = setTimeout(resume, waitMs)
      this.#wake = () => {
        clearTimeout(timer)
        resume()
      }
    })
  }
}
