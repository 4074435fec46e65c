/**
 * Figures of this cache's traffic by group and domain (docs/behaviour.md, Live log): one run of the log tool for a sample of the
 * requests, as large as the cache's own rate allows, scaled by what the cache counted meanwhile.
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
  /** Whether there are the tool and the right to read the log. */
  readonly canRead: () => boolean
  /** Expected at most; 0: no figures. */
  readonly linesPerSecond: number
  readonly log: Logger
}

const requestCounter = 'MAIN.client_req'
/** Routes change with deploys: so often it is asked whether they did. */
const refreshEveryMs = 250
/** A burst is read whole, unless it is so much over what is expected in so many seconds. */
const bound = { factor: 2, seconds: 10 }
const retryAfterMs = 60_000
/** The tool has the lowest priority; when it writes nothing for longer, though the cache is asked, it does not run. */
const silentMs = 10_000
const none: ReadonlyMap<string, number> = new Map()

/** Whoever takes what was read, at a pace of its own. */
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
  /** When a line came last, or nobody had asked the cache since. */
  #receivedAtMs = 0

  constructor(options: TrafficFiguresOptions) {
    this.#options = options
  }

  /** Per second since the reading before, by the names of their series; none while nothing is read. */
  take(reading: CounterReading): ReadonlyMap<string, number> {
    return this.#takeFrom(this.#sampled, reading) ?? none
  }

  /** How many since the reading before of these; null while nothing is read. */
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

  /** Nobody wants figures: nothing is read for them. */
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
    const linesMost = this.#options.linesPerSecond * bound.factor * seconds
    const scale = chooseScale({ sample, lines, requests, linesMost })
    const rates = sums.take({ scale, seconds })
    const nowMs = performance.now()
    // Of a sample of few requests there need be none.
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
      () => undefined, // as it was
    )
  }
}
