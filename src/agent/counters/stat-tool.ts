/**
 * Counters by `varnishstat -1 -j` or `vinylstat`, where the cache's files cannot be read by ourselves. Forms of its JSON: up to
 * 6.4 counters are the members beside `timestamp`, since 6.5 those of `counters` (varnishstat.c, do_once_json).
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { CounterReading } from './counter-rates.js'
import type { CounterSelection } from './counter-selection.js'

/** It waits for a cache that is not there, seconds; and whatever it does, it is ended. */
const timeoutSeconds = '1'
const timeoutMs = 5_000
const outputLimitBytes = 16 << 20
/** Uptimes are whole seconds, counted by another clock. */
const slackMs = 2_500

interface StatToolOptions {
  /** The cache's working directory. */
  readonly folder: string
  /** The program: a path, or a name on PATH. */
  readonly statTool: string
  readonly isWanted: CounterSelection
}

export class StatTool {
  readonly #options: StatToolOptions
  readonly #manager = new UptimeWatch()
  readonly #child = new UptimeWatch()

  constructor(options: StatToolOptions) {
    this.#options = options
  }

  /** Rejects with the tool's words, or because there is none. */
  async read(): Promise<CounterReading> {
    const { folder, statTool, isWanted } = this.#options
    const words = ['-n', folder, '-1', '-j', '-t', timeoutSeconds]
    const { stdout } = await promisify(execFile)(statTool, words, {
      timeout: timeoutMs,
      maxBuffer: outputLimitBytes,
    })
    const atMs = performance.now()
    const all = parseStatistics(stdout)
    const lives = {
      manager: this.#manager.nameLife(all.get('MGT.uptime'), atMs),
      child: this.#child.nameLife(all.get('MAIN.uptime'), atMs),
    }
    // Counters of a cold VCL are not shown, and come back as they were.
    const values = new Map([...all].filter(([name]) => isWanted(name)))
    return { atMs, lives, isComplete: false, values }
  }
}

/** Without bitmaps. Throws where it is not such a text. */
export function parseStatistics(text: string): ReadonlyMap<string, bigint> {
  // Numbers become texts before they are read: a double has 53 bits.
  const value = JSON.parse(text.replaceAll(/("value":\s*)(\d+)/g, '$1"$2"')) as Members
  const counters = isMembers(value['counters']) ? value['counters'] : value
  return new Map(
    Object.entries(counters).flatMap(([name, counter]) =>
      isMembers(counter) && typeof counter['value'] === 'string' && counter['flag'] !== 'b'
        ? [[name, BigInt(counter['value'])]]
        : [],
    ),
  )
}

type Members = Readonly<Record<string, unknown>>

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null
}

/** Tells lives of a process apart by when it started. */
class UptimeWatch {
  #startedAtMs = Number.NaN
  #life = 0

  nameLife(uptimeSeconds: bigint | undefined, atMs: number): string {
    if (uptimeSeconds === undefined) return ''
    const startedAtMs = atMs - Number(uptimeSeconds) * 1000
    const isSame = Math.abs(startedAtMs - this.#startedAtMs) <= slackMs
    if (!isSame) this.#life += 1
    this.#startedAtMs = startedAtMs
    return `life ${this.#life}`
  }
}
