/** A hint that something is worth another check. It may come while nobody waits for it, and is not lost then. */

export class Hint {
  #isGiven = false
  #wake: () => void = () => undefined

  /** Whoever waits goes on; else who waits next need not. */
  readonly give = (): void => {
    this.#isGiven = true
    this.#wake()
  }

  /** Whatever is read from now on includes what earlier hints announced. */
  take(): void {
    this.#isGiven = false
  }

  /** Resolves after `waitMs`, or when there is a hint that was not taken. */
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
