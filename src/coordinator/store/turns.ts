/** One at a time, in the order of asking: SQLite's one connection, and the decisions of this process on PostgreSQL. */

export class Turns {
  readonly #waiting: (() => void)[] = []
  #taken = false

  /** Resolves when it is the caller's turn; `end` must follow. */
  async begin(): Promise<void> {
    if (!this.#taken) {
      this.#taken = true
      return
    }
    await new Promise<void>((resume) => this.#waiting.push(resume))
  }

  /** The turn goes to who waits longest, without a gap in which another could slip in. */
  end(): void {
    const resume = this.#waiting.shift()
    if (resume) resume()
    else this.#taken = false
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
