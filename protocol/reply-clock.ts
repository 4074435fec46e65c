/**
 * Watches the oldest command in flight, the only one that the cache is processing. It uses one timer that keeps running while commands come
 * and go, because a timer per command would cost too much.
 */

interface ReplyClock<Item> {
  /** Starts the time limit of the command that is now the oldest. */
  start(oldest: Item): void
  stop(): void
}

interface ReplyClockOptions<Item> {
  readonly oldest: () => Item | undefined
  readonly onLate: (late: Item) => void
}

export function createReplyClock<Item extends { readonly timeoutMs: number }>(
  options: ReplyClockOptions<Item>,
): ReplyClock<Item> {
  let timer: NodeJS.Timeout | null = null
  let timerDueAtMs = 0
  let deadlineAtMs = 0

  const arm = (delayMs: number) => {
    timerDueAtMs = performance.now() + delayMs
    timer = setTimeout(check, delayMs)
  }
  const check = () => {
    timer = null
    const oldest = options.oldest()
    if (!oldest) return
    const leftMs = deadlineAtMs - performance.now()
    if (leftMs > 0) arm(leftMs)
    else setImmediate(checkAgain, oldest)
  }
  // If this process was blocked itself, the reply is in the socket, unread: wait one turn of the event loop to read it.
  const checkAgain = (late: Item) => {
    const oldest = options.oldest()
    if (oldest === late) options.onLate(late)
    else if (oldest && !timer) arm(oldest.timeoutMs)
  }

  return {
    start: (oldest) => {
      deadlineAtMs = performance.now() + oldest.timeoutMs
      if (timer && timerDueAtMs <= deadlineAtMs) return
      if (timer) clearTimeout(timer)
      arm(oldest.timeoutMs)
    },
    stop: () => {
      if (timer) clearTimeout(timer)
      timer = null
    },
  }
}
