/**
 * Figures of this cache's traffic by group and domain (docs/behaviour.md, Live log): one run of the log tool reads a sample of the
 * requests, sized by the cache's request rate; the result is scaled by the cache's own counters.
 */
import type { Logger } from 'pino'
import { FleetError } from '../../errors.js'
import { figureFormat, parseFigureLine } from '../../traffic/figure-line.js'
import {
  chooseScale,
  FigureSums,
  followSample,
  sampleQuery,
  type Sample,
} from '../../traffic/figures.js'
import { countSince, type CounterReading } from '../counters/counter-rates.js'
import type { LogChildren } from './log-children.js'
import type { ServedGroups } from './served-groups.js'

interface TrafficFiguresOptions {
  readonly children: LogChildren
  readonly groups: ServedGroups
  /** True when the tool and the permission to read the log exist. */
  readonly canRead: () => boolean
  /** Maximum of expected lines; 0: no figures. */
  readonly linesPerSecond: number
  readonly log: Logger
}

const requestCounter = 'MAIN.client_req'
/** Routes change with deploys: how often the agent checks whether they did. */
const refreshEveryMs = 250
/** A burst is read completely unless it exceeds the expected lines of `seconds` by this factor. */
const bound = { factor: 2, seconds: 10 }
const retryAfterMs = 60_000
/** The tool has the lowest priority; if it prints nothing for longer although the cache has requests, it is not running. */
const silentMs = 10_000
const none: ReadonlyMap<string, number> = new Map()

/** One consumer of the lines, with its own interval. */
interface Tap {
  readonly sums: FigureSums
  before: CounterReading | null
}

export class TrafficFigures {
  readonly #options: TrafficFiguresOptions
  readonly #sampled: Tap = { sums: new FigureSums(), before: null }
  readonly #observed: Tap = { sums: new FigureSums(), before: null }
  #run: { readonly sample: Sample; readonly leave: () => Promise<void> } | null = null
  #refreshedAtMs = Number.NEGATIVE_INFINITY
  #quietUntilMs = 0
  /** Time of the last line, or of the last reading in which none was due. */
  #receivedAtMs = 0

  constructor(options: TrafficFiguresOptions) {
    this.#options = options
  }

  /** Rates per second since the previous reading, by series name; empty while nothing is read. */
  take(reading: CounterReading): ReadonlyMap<string, number> {
    return this.#takeFrom(this.#sampled, reading) ?? none
  }

  /** Counts since the previous reading by this consumer; null while nothing is read. */
  observe(reading: CounterReading): ReadonlyMap<string, number> | null {
    const { before } = this.#observed
    const rates = this.#takeFrom(this.#observed, reading)
    if (rates === null || before === null) return null
    const seconds = (reading.atMs - before.atMs) / 1000
    return new Map([...rates].map(([name, rate]) => [name, rate * seconds]))
  }

  #takeFrom(tap: Tap, reading: CounterReading): ReadonlyMap<string, number> | null {
    if (this.#options.linesPerSecond === 0) return null
    const { before } = tap
    tap.before = reading
    const seconds = before === null ? 0 : (reading.atMs - before.atMs) / 1000
    if (seconds <= 0) return null
    const counted = countSince(before, reading, requestCounter)
    const requests = counted === null ? null : Number(counted)
    const rates = this.#takeRates(tap.sums, requests, seconds)
    this.#refresh(reading.atMs)
    if (requests !== null) this.#follow(requests / seconds)
    return rates
  }

  /** Stops reading: nobody needs figures. */
  rest(): void {
    void this.#run?.leave()
    this.#run = null
    this.#sampled.before = null
    this.#observed.before = null
  }

  #takeRates(
    sums: FigureSums,
    requests: number | null,
    seconds: number,
  ): ReadonlyMap<string, number> | null {
    const { lines } = sums
    const sample = this.#run?.sample ?? 1
    const maxLines = this.#options.linesPerSecond * bound.factor * seconds
    const scale = chooseScale({ sample, lines, requests, maxLines })
    const rates = sums.take({ scale, seconds })
    const nowMs = performance.now()
    // A sample of few requests may be empty.
    if (lines > 0 || requests === null || requests < 10 * sample) this.#receivedAtMs = nowMs
    return this.#run === null || nowMs - this.#receivedAtMs > silentMs ? null : rates
  }

  #follow(requestsPerSecond: number): void {
    const { linesPerSecond, canRead } = this.#options
    const sample = followSample(this.#run?.sample ?? null, requestsPerSecond, linesPerSecond)
    if (sample === this.#run?.sample) return
    void this.#run?.leave()
    this.#run = null
    if (canRead() && performance.now() >= this.#quietUntilMs) this.#begin(sample)
  }

  #begin(sample: Sample): void {
    const { children, linesPerSecond } = this.#options
    const lines = linesPerSecond * bound.factor * bound.seconds
    const query = sampleQuery(sample)
    const wanted = { format: figureFormat, query, fetches: false }
    try {
      const leave = children.read(
        { ...wanted, bound: { lines, seconds: bound.seconds } },
        {
          onLine: (line) => {
            this.#read(line)
          },
          onEnd: (why) => {
            this.#fail(why)
          },
        },
      )
      this.#run = { sample, leave }
    } catch (error) {
      if (!(error instanceof FleetError)) throw error
      this.#fail(error.message)
    }
  }

  #fail(why: string): void {
    this.#options.log.warn({ why }, 'the figures of groups and domains cannot be read')
    this.#run = null
    this.#quietUntilMs = performance.now() + retryAfterMs
  }

  #read(text: string): void {
    this.#refresh(performance.now())
    const line = parseFigureLine(text)
    if (line === null) return
    const group = this.#options.groups.groupOf(line.host)
    for (const { sums } of [this.#sampled, this.#observed])
      if (group === null) sums.skip()
      else sums.add(group.groupId, group.fqdn, line.seen)
  }

  #refresh(nowMs: number): void {
    if (nowMs < this.#refreshedAtMs + refreshEveryMs) return
    this.#refreshedAtMs = nowMs
    const { groups } = this.#options
    void groups.refresh().then(
      (isOther) => {
        if (!isOther) return
        for (const { sums } of [this.#sampled, this.#observed])
          sums.keepOnly((subject) => groups.isServed(subject))
      },
      () => undefined, // keeps the earlier groups
    )
  }
}
