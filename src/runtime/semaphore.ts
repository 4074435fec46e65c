/** A semaphore: limits how many run at once; the others wait in order, up to a limit. */

interface SemaphoreOptions {
  /** How many run at once. */
  readonly permits?: number
  /** How many may wait; further callers are refused with the error of `refuse`. */
  readonly maxWaiting?: number
  readonly refuse?: () => Error
}

export class Semaphore {
  readonly #options: SemaphoreOptions
  readonly #waiting: (() => void)[] = []
  #taken = 0

  constructor(options: SemaphoreOptions = {}) {
    this.#options = options
  }

  /** All permits are free. */
  get isIdle(): boolean {
    return this.#taken === 0
  }

  /** Resolves when the caller has a permit; `release` must follow. */
  async acquire(): Promise<void> {
    await this.acquireWithin(Number.POSITIVE_INFINITY)
  }

  /** False when there was no permit in time; call `release` only after true. */
  async acquireWithin(waitMs: number): Promise<boolean> {
    const { permits = 1, maxWaiting = Number.POSITIVE_INFINITY, refuse } = this.#options
    if (this.#taken < permits) {
      this.#taken += 1
      return true
    }
    if (this.#waiting.length >= maxWaiting)
      throw refuse?.() ?? new Error(`${maxWaiting} are waiting already`)
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

  /** Passes the permit directly to the longest waiter, so that no other caller can take it in between. */
  release(): void {
    const resume = this.#waiting.shift()
    if (resume) resume()
    else this.#taken -= 1
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.acquire()
    try {
      return await work()
    } finally {
      this.release()
    }
  }
}
