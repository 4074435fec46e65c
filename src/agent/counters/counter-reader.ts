/** Where an agent's counters come from: the files that the cache shares, varnishstat where they cannot be read, or nowhere. */
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Logger } from 'pino'
import type { CounterReading } from './counter-rates.js'
import type { CounterSelection } from './counter-selection.js'
import { errorText } from '../engine/engine.js'
import { readPidsOnDisk } from '../apply/inventory.js'
import { SharedMemory } from './shared-memory.js'
import { Varnishstat } from './varnishstat.js'

export interface CounterReader {
  /** Null while there is nothing to be read. Never rejects. */
  read(): Promise<CounterReading | null>
}

interface CounterReaderOptions {
  /** The cache's `-n`; without it varnishd's own default is tried. */
  readonly workingDirectory: string | null
  /** Of the cache's manager, where it is known. */
  readonly cachePid: () => number | null
  readonly isWanted: CounterSelection
  /** Where varnishd looks for a `-n` that is no path; `/var/lib/varnish` unless told. */
  readonly stateFolder?: string
  readonly log: Logger
}

/** What varnishd takes without a `-n`: by distribution. */
const usualNames = () => [hostname(), 'varnishd']

/** Chosen by us: what failed is left alone for a while; files that may not be read now may be read after a restart. */
const pauseMs = 60_000

export function createCounterReader(options: CounterReaderOptions): CounterReader {
  let sources: readonly Source[] | null = null
  return {
    read: async () => {
      sources ??= await openSources(options)
      for (const source of sources ?? []) {
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

interface Source {
  readonly from: SharedMemory | Varnishstat
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

async function openSources(options: CounterReaderOptions): Promise<readonly Source[] | null> {
  const folder = await findWorkingDirectory(options)
  if (folder === null) return null
  return [SharedMemory, Varnishstat].map((Reader) => ({
    from: new Reader(folder, options.isWanted),
    quietUntilMs: 0,
    why: '',
  }))
}

/** A usual folder is that of this cache only if its manager is: a host may run several. */
async function findWorkingDirectory(options: CounterReaderOptions): Promise<string | null> {
  const { stateFolder = '/var/lib/varnish', workingDirectory } = options
  if (workingDirectory !== null) return resolve(stateFolder, workingDirectory)
  const pid = options.cachePid()
  if (pid === null) return null
  for (const name of usualNames()) {
    const folder = resolve(stateFolder, name)
    if ((await readPidsOnDisk(folder)).masterPid === pid) return folder
  }
  return null
}
