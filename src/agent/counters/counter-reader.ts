/** Where an agent's counters come from: the files that the cache shares, its own tool where they cannot be read, or nowhere. */
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Logger } from 'pino'
import type { CounterReading } from './counter-rates.js'
import type { CounterSelection } from './counter-selection.js'
import { errorText } from '../engine/engine.js'
import { readPidsOnDisk } from '../apply/inventory.js'
import { findProduct, varnish, type Product } from '../../../protocol/product.js'
import { readRunningCache } from '../host/running-caches.js'
import { findCacheTool } from '../host/trusted-program.js'
import { SharedMemory } from './shared-memory.js'
import { StatTool } from './stat-tool.js'

export interface CounterReader {
  /** Null while there is nothing to be read. Never rejects. */
  read(): Promise<CounterReading | null>
}

interface CounterReaderOptions {
  /** The cache's `-n`, as a setting names it; null: that of the running cache. */
  readonly workingDirectory: string | null
  /** Of the cache's manager, where it is known. */
  readonly cachePid: () => number | null
  /** As the cache calls itself; empty until it was reached. */
  readonly product: () => string
  readonly isWanted: CounterSelection
  /** Where a `-n` that is not a path lies; that of the product unless told. */
  readonly stateFolder?: string
  readonly log: Logger
}

/** What failed is left alone for a while: files that may not be read now may be read after a restart. */
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

/** Changes when a cache of another product takes the place of this one. */
interface CounterPlace {
  readonly folder: string
  readonly statTool: string
}

interface Source {
  readonly from: SharedMemory | StatTool
  quietUntilMs: number
  /** Why it failed last. */
  why: string
}

/** Said once, as long as the reason stays the same. */
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
  const pid = options.cachePid()
  const cache = pid === null ? null : await readRunningCache(pid)
  const product = findProduct(options.product()) ?? cache?.product ?? varnish
  const stateFolder = options.stateFolder ?? product.stateFolder
  const folder =
    options.workingDirectory === null
      ? (cache?.workingDirectory ?? (await findDefaultFolder(stateFolder, product, pid)))
      : resolve(stateFolder, options.workingDirectory)
  return folder === null ? null : { folder, statTool: await findCacheTool(cache, product.statTool) }
}

/** One of the default names is that of this cache only if its manager is: a host may run several. */
export async function findDefaultFolder(
  stateFolder: string,
  { defaultName }: Product,
  pid: number | null,
): Promise<string | null> {
  if (pid === null) return null
  for (const name of [hostname(), defaultName]) {
    const folder = resolve(stateFolder, name)
    if ((await readPidsOnDisk(folder)).masterPid === pid) return folder
  }
  return null
}
