/**
 * The newest entries of the invalidation log, read once for all agents of this process: who has been sent all before them is
 * served from here, everybody else reads for itself. Hints say that there are new ones; it polls every second without one.
 */
import type { Logger } from 'pino'
import { invalidationsLoggedSubject } from '../bus/subjects.js'
import type { DeliverableEntry, InvalidationLog } from '../invalidations/invalidation-log.js'
import type { StateService } from '../service.js'
import { startLoop, type Pass } from '../../runtime/loop.js'

interface InvalidationTail {
  /** Every open entry behind this position, up to `end`, is in the tail; not a number before the log was read. */
  readonly start: number
  readonly end: number
  /** In order; undefined at the end. */
  next(after: number): DeliverableEntry | undefined
  close(): Promise<void>
}

const withoutHintMs = 1000
/** Entries a query. */
const pageEntries = 128
/** Entries of the log kept in memory. */
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
  const loop = startLoop({
    log,
    trouble: 'the invalidation log cannot be read',
    everyMs: withoutHintMs,
    firstMs: 0,
    pass: readAll,
  })
  const subscription = service.bus.subscribe(invalidationsLoggedSubject, ({ dropped }) => {
    forget(new Set(dropped))
    loop.wake()
  })

  return {
    get start() {
      return start
    },
    get end() {
      return end
    },
    next: (after) => kept[findBehind(kept, after)],
    close: async () => {
      subscription.close()
      await loop.close()
    },
  }

  function forget(ids: ReadonlySet<number>): void {
    if (ids.size === 0) return
    kept = kept.filter(({ id }) => !ids.has(id))
    bytes = sumBytes(kept)
  }

  async function readAll({ signal }: Pass): Promise<void> {
    for (let isWhole = false; !isWhole && !signal.aborted;) isWhole = await readPage()
  }

  /** Answers whether that was all there is. */
  async function readPage(): Promise<boolean> {
    if (Number.isNaN(end)) {
      start = end = await source.readEnd()
      grown()
      return true
    }
    // Before the page: all up to there is committed, and what the page does not have of it has ended.
    const logged = await source.readEnd()
    if (logged === end) return true
    const page = await source.readAfter(end, pageEntries)
    kept.push(...page)
    bytes += sumBytes(page)
    const last = page.at(-1)?.position ?? end
    const isWhole = page.length < pageEntries
    end = isWhole ? Math.max(last, logged) : last
    let surplus = 0
    while (kept.length - surplus > keptEntries || bytes > keptBytes) {
      const oldest = kept[surplus]
      if (!oldest) break
      start = oldest.position
      bytes -= oldest.bytes
      surplus += 1
    }
    kept = kept.slice(surplus)
    grown()
    return isWhole
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
