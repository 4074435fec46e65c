/**
 * Caches reads until the next write, so that many users and scripts polling the same few lists and agents cause one query.
 * Exact, not timed: every write changes the generation of what it may have changed. What another process writes (`cachefleetd
 * admin`) is seen from the next turn of the event loop.
 */

import { createReadCache } from '../../runtime/bounded-cache.js'

interface Reading {
  /** Identifies the read, including parameters and the reader's scope: equal keys, equal results. */
  readonly key: string
  /** Its share of the cache, in rows. */
  readonly rows: number
  /** It reads nothing that a transaction for certain other agents may change (`TransactionOptions.agents`). Omitted: anything. */
  readonly agentId?: number
}

export type Recall = <T>(reading: Reading, read: () => Promise<T>) => Promise<T>

/** A page of 50 and each of a thousand agents, at about 1 kB per row. */
const maxRows = 2_000

/** Results are shared: callers must not change them. */
export function createReadMemory({ generation }: Pick<WriteCount, 'generation'>): Recall {
  const known = createReadCache<unknown>({
    most: maxRows,
    believedMs: Number.POSITIVE_INFINITY,
    now: () => 0,
  })
  return <T>({ key, rows, agentId }: Reading, read: () => Promise<T>): Promise<T> =>
    known.read(`${generation(agentId)} ${key}`, read, rows) as Promise<T> // the key determines the type
}

/** Which writes there were, by whom they matter to. */
export interface WriteCount {
  /** Call before each statement that may write. */
  readonly note: () => void
  /** Runs a transaction that changes only what belongs to these agents; undefined: anything. */
  within<T>(agents: readonly number[] | undefined, work: () => Promise<T>): Promise<T>
  /** Different after every write; with an agent, after every write that may have changed it. */
  generation(agentId?: number): number
}

/** Agents whose last writes are told apart; beyond it, a write is one of anything. */
const maxAgentsKnown = 10_000

/** `readOthers` returns a different number after every write of another process. Transactions run one at a time. */
export function createWriteCount(readOthers: () => number): WriteCount {
  let last = 0
  let lastOfAny = 0
  let others = Number.NaN
  let isUpToDate = false
  let current: readonly number[] | undefined
  const lastOf = new Map<number, number>()

  return { note, within, generation }

  function note(): void {
    if (current === undefined || lastOf.size + current.length > maxAgentsKnown) {
      noteAny()
      return
    }
    last += 1
    for (const id of current) lastOf.set(id, last)
  }

  function noteAny(): void {
    last += 1
    lastOfAny = last
    lastOf.clear()
  }

  async function within<T>(
    agents: readonly number[] | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    current = agents
    try {
      return await work()
    } finally {
      current = undefined
    }
  }

  function generation(agentId?: number): number {
    noteOthers()
    return agentId === undefined ? last : (lastOf.get(agentId) ?? lastOfAny)
  }

  /** Once a turn: it takes as long as a small query. */
  function noteOthers(): void {
    if (isUpToDate) return
    isUpToDate = true
    setImmediate(() => {
      isUpToDate = false
    })
    const version = readOthers()
    if (version !== others) noteAny()
    others = version
  }
}
