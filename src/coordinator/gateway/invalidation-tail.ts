/**
 * Keeps the newest entries of the invalidation log, read once for all agents of this process: agents that received all earlier
 * entries are served from here, others by their own queries. Hints announce new entries; without one it polls every second.
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
  /** Returns the next entry in order; undefined at the end. */
  next(after: number): DeliverableEntry | undefined
  close(): Promise<void>
}

const withoutHintMs = 1000
/** Entries per query. */
const pageEntries = 128
/** Limit of entries kept in memory. */
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

  /** Returns true if there are no more entries. */
  async function readPage(): Promise<boolean> {
    if (Number.isNaN(end)) {
      start = end = await source.readEnd()
      grown()
      return true
    }
    // Read before the page: all entries up to here are committed, and those missing from the page have ended.
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

/** Returns the index of the first entry behind this position. */
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
