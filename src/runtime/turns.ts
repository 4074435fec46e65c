/** Work in the order of asking: one at a time, or as many as there are places. */

export interface TurnsOptions {
  /** How many run at once. */
  readonly places?: number
  /** How many may wait; who comes when so many do is refused with what `refuse` answers. */
  readonly waitingMost?: number
  readonly refuse?: () => Error
}

export class Turns {
  readonly #options: TurnsOptions
  readonly #waiting: (() => void)[] = []
  #taken = 0

  constructor(options: TurnsOptions = {}) {
    this.#options = options
  }

  /** Nobody has a turn, and nobody waits for one. */
  get isIdle(): boolean {
    return this.#taken === 0
  }

  /** Resolves when it is the caller's turn; `end` must follow. */
  async begin(): Promise<void> {
    await this.beginWithin(Number.POSITIVE_INFINITY)
  }

  /** Answers false when it was not the caller's turn in time; `end` must follow only what answered true. */
  async beginWithin(waitMs: number): Promise<boolean> {
    const { places = 1, waitingMost = Number.POSITIVE_INFINITY, refuse } = this.#options
    if (this.#taken < places) {
      this.#taken += 1
      return true
    }
    if (this.#waiting.length >= waitingMost)
      throw refuse?.() ?? new Error(`${waitingMost} wait for their turn already`)
    return new Promise((resolve) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(resume), 1)
        resolve(false)
      }
      const timer = Number.isFinite(waitMs) ? setTimeout(leave, waitMs) : undefined
      const resume = (): void => {
        clearTimeout(timer)
        resolve(true)
      }
      this.#waiting.push(resume)
    })
  }

  /** The turn goes to who waits longest, without a gap in which another could slip in. */
  end(): void {
    const resume = this.#waiting.shift()
    if (resume) resume()
    else this.#taken -= 1
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.begin()
    try {
      return await work()
    } finally {
      this.end()
    }
  }
}
