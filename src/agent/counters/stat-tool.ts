/**
 * Reads counters with `varnishstat -1 -j` or `vinylstat`, if the agent cannot read the cache's files. JSON formats: up to 6.4
 * counters are members beside `timestamp`, since 6.5 members of `counters` (varnishstat.c, do_once_json).
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { CounterReading } from './counter-rates.js'
import type { CounterSelection } from './counter-selection.js'

/** Seconds that the tool waits for an absent cache; after `timeoutMs` it is killed in any case. */
const timeoutSeconds = '1'
const timeoutMs = 5_000
const outputLimitBytes = 16 << 20
/** Uptimes are whole seconds of another clock. */
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

  /** Rejects with the tool's error message, or because the tool is missing. */
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
    // Counters of a cold VCL are not shown; they reappear unchanged.
    const values = new Map([...all].filter(([name]) => isWanted(name)))
    return { atMs, lives, isComplete: false, values }
  }
}

/** Skips bitmaps. Throws when the text has another format. */
export function parseStatistics(text: string): ReadonlyMap<string, bigint> {
  // Numbers become strings before they are parsed: a double has 53 bits.
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

/** Distinguishes lives of a process by its start time. */
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
