/** Source of an agent's counters: the cache's shared files, its own tool if they cannot be read, or none. */
import type { Logger } from 'pino'
import type { CounterReading } from './counter-rates.js'
import type { CounterSelection } from './counter-selection.js'
import { errorText } from '../engine/engine.js'
import { findCachePlace, type SoughtCache } from '../host/cache-place.js'
import { findCacheTool } from '../host/trusted-program.js'
import { SharedMemory } from './shared-memory.js'
import { StatTool } from './stat-tool.js'

export interface CounterReader {
  /** Null while nothing can be read. Never rejects. */
  read(): Promise<CounterReading | null>
}

interface CounterReaderOptions extends SoughtCache {
  readonly isWanted: CounterSelection
  readonly log: Logger
}

/** A failed source is not tried for a while; files that are unreadable now may be readable after a restart. */
const pauseMs = 60_000

export function createCounterReader(options: CounterReaderOptions): CounterReader {
  let place: CounterPlace | null = null
  let sources: readonly Source[] = []
  return {
    read: async () => {
      const found = await findPlace(options)
      if (found === null) return null
      if (found.folder !== place?.folder || found.statTool !== place.statTool) {
        place = found
        sources = openSources(found, options.isWanted)
      }
      for (const source of sources) {
        if (performance.now() < source.quietUntilMs) continue
        try {
          return await source.from.read()
        } catch (error) {
          noteFailure(options.log, source, error)
        }
      }
      return null
    },
  }
}

/** Changes when a cache of another product replaces this one. */
interface CounterPlace {
  readonly folder: string
  readonly statTool: string
}

interface Source {
  readonly from: SharedMemory | StatTool
  quietUntilMs: number
  /** Reason of the last failure. */
  why: string
}

/** Logged once, as long as the reason stays the same. */
function noteFailure(log: Logger, source: Source, error: unknown): void {
  const why = errorText(error).trim()
  if (why !== source.why)
    log.warn(
      { why },
      "counters cannot be read so: the agent's user must be in the cache's group, and --engine-name the cache's -n",
    )
  source.why = why
  source.quietUntilMs = performance.now() + pauseMs
}

function openSources(place: CounterPlace, isWanted: CounterSelection): readonly Source[] {
  const readers = [new SharedMemory(place.folder, isWanted), new StatTool({ ...place, isWanted })]
  return readers.map((from) => ({ from, quietUntilMs: 0, why: '' }))
}

async function findPlace(options: CounterReaderOptions): Promise<CounterPlace | null> {
  const place = await findCachePlace(options)
  if (place === null) return null
  const { folder, cache, product } = place
  return { folder, statTool: await findCacheTool(cache, product.statTool) }
}
