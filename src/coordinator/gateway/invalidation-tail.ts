/**
 * The newest entries of the invalidation log, read once for all agents of this process: who has been sent all before them is
 * served from here, everybody else reads for itself. Hints say that there are new ones; it looks every second without one.
 */
import type { Logger } from 'pino'
import { invalidationsLoggedSubject } from '../bus/subjects.js'
import type { DeliverableEntry, InvalidationLog } from '../invalidations/invalidation-log.js'
import type { StateService } from '../service.js'

export interface InvalidationTail {
  /** Every open entry behind this position, up to `end`, is in the tail; not a number before the log was read. */
  readonly start: number
  readonly end: number
  /** In order; undefined at the end. */
  next(after: number): DeliverableEntry | undefined
  close(): void
}

const withoutHintMs = 1000
/** Entries a query. */
const pageEntries = 128
/** Chosen by us: how much of the log is kept in memory. */
const keptEntries = 1024
const keptBytes = 16 << 20

export function createInvalidationTail(
  service: StateService,
  log: Logger,
  { entries: source, grown }: { readonly entries: InvalidationLog; readonly grown: () => void },
): InvalidationTail {
  let kept: DeliverableEntry[] = []
  let bytes = 0
  let start = Number.NaN
  let end = Number.NaN
  let reading: Promise<void> | null = null
  let isWanted = false
  let failing = false
  let closed = false
  const timer = setInterval(refresh, withoutHintMs)
  const subscription = service.bus.subscribe(invalidationsLoggedSubject, ({ dropped }) => {
    forget(new Set(dropped))
    refresh()
  })
  refresh()

  return {
    get start() {
      return start
    },
    get end() {
      return end
    },
    next: (after) => kept[findBehind(kept, after)],
    close: () => {
      closed = true
      clearInterval(timer)
      subscription.close()
    },
  }

  function forget(ids: ReadonlySet<number>): void {
    if (ids.size === 0) return
    kept = kept.filter(({ id }) => !ids.has(id))
    bytes = sumBytes(kept)
  }

  function refresh(): void {
    isWanted = true
    reading ??= readAll().finally(() => (reading = null))
  }

  /** Never rejects. */
  async function readAll(): Promise<void> {
    while (isWanted && !isClosed()) {
      isWanted = false
      try {
        const isNew = await readPage()
        failing = false
        if (isNew) grown()
      } catch (error) {
        if (!failing) log.error({ err: error }, 'the invalidation log cannot be read')
        failing = true
      }
    }
  }

  function isClosed(): boolean {
    return closed
  }

  async function readPage(): Promise<boolean> {
    if (Number.isNaN(end)) {
      start = end = await source.readEnd()
      return true
    }
    // Before the page: all up to there is committed, and what the page does not have of it has ended.
    const logged = await source.readEnd()
    if (logged === end) return false
    const page = await source.readAfter(end, pageEntries)
    kept.push(...page)
    bytes += sumBytes(page)
    const last = page.at(-1)?.position ?? end
    const isWhole = page.length < pageEntries
    end = isWhole ? Math.max(last, logged) : last
    isWanted ||= !isWhole
    let surplus = 0
    while (kept.length - surplus > keptEntries || bytes > keptBytes) {
      const oldest = kept[surplus]
      if (!oldest) break
      start = oldest.position
      bytes -= oldest.bytes
      surplus += 1
    }
    kept = kept.slice(surplus)
    return true
  }
}

function sumBytes(entries: readonly DeliverableEntry[]): number {
  return entries.reduce((sum, entry) => sum + entry.bytes, 0)
}

/** Index of the first entry behind this position. */
function findBehind(entries: readonly DeliverableEntry[], position: number): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((entries[middle]?.position ?? 0) > position) high = middle
    else low = middle + 1
  }
  return low
}
