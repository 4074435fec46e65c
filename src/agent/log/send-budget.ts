/**
 * What the streams of a cache's log may send together. They have the link to the coordinator in common with heartbeats and reports, and it
 * ends a link by which too much comes (coordinator/gateway/link-socket.ts).
 */

/** Whole records of requests are long. Of the 32 MiB in ten seconds that a link takes, two thirds. */
const bytesPerSecond = 2_000_000
/** Of the 5,000 in ten seconds that a link takes, a fifth. */
const messagesPerSecond = 100
/** A transaction is with its reader half a second later at most, unless there are many. */
const flushEveryMs = 100

/** Of one stream in the second that began then. */
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

  /** What a stream that spent this has spent by now. */
  spentBy(spent: Spent | null): Spent {
    const nowMs = performance.now()
    if (nowMs - this.#second.sinceMs >= 1000) this.#second = { sinceMs: nowMs, bytes: 0 }
    const { sinceMs } = this.#second
    return spent?.sinceMs === sinceMs ? spent : { sinceMs, lines: 0, bytes: 0 }
  }

  /** Each has an equal share: many readers of much take nothing from one of little. */
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
