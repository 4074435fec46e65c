/**
 * The shared send limit for all log streams of a cache. They use the same link as heartbeats and reports, and the coordinator
 * closes a link that sends too much (coordinator/gateway/link-socket.ts).
 */

/** Two thirds of a link's limit of 32 MiB in ten seconds: whole records of requests are long. */
const bytesPerSecond = 2_000_000
/** A fifth of a link's limit of 5,000 in ten seconds. */
const messagesPerSecond = 100
/** A transaction reaches its reader within half a second, unless there are many. */
const flushEveryMs = 100

/** Use of one stream in the second that began at `sinceMs`. */
export interface Spent {
  readonly sinceMs: number
  lines: number
  bytes: number
}

export class SendBudget {
  readonly #countStreams: () => number
  #second = { sinceMs: Number.NEGATIVE_INFINITY, bytes: 0 }

  constructor(countStreams: () => number) {
    this.#countStreams = countStreams
  }

  get flushEveryMs(): number {
    return Math.max(flushEveryMs, (this.#countStreams() * 1000) / messagesPerSecond)
  }

  /** Returns the stream's use of the current second. */
  spentBy(spent: Spent | null): Spent {
    const nowMs = performance.now()
    if (nowMs - this.#second.sinceMs >= 1000) this.#second = { sinceMs: nowMs, bytes: 0 }
    const { sinceMs } = this.#second
    return spent?.sinceMs === sinceMs ? spent : { sinceMs, lines: 0, bytes: 0 }
  }

  /** Each stream has an equal share: busy ones take nothing from a quiet one. */
  hasRoom({ bytes }: Spent, more: number): boolean {
    return (
      bytes < bytesPerSecond / Math.max(1, this.#countStreams()) &&
      this.#second.bytes + more <= bytesPerSecond
    )
  }

  spend(spent: Spent, more: number): void {
    spent.lines += 1
    spent.bytes += more
    this.#second.bytes += more
  }
}
