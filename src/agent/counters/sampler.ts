/**
 * Samples the cache's counters at the coordinator's interval, and every second during a live subscription. Samples that
 * cannot be sent are dropped: a gap stays a gap.
 */
import type { Logger } from 'pino'
import { newTraceId } from '../../context.js'
import { computeRates, type CounterReading } from './counter-rates.js'
import { narrowReading, type CounterSelection } from './counter-selection.js'
import type { Samples } from '../../messages/agent-to-coordinator.js'
import type { Unsent } from '../link/coordinator-link.js'
import type { CounterReader } from './counter-reader.js'
import { startLoop, type Loop } from '../../runtime/loop.js'

/** Figures that samples contain in addition to counters, in the same order each time. */
export interface SampledFigures {
  /** Rates per second since the last call, by series name. */
  take(now: CounterReading): ReadonlyMap<string, number>
  /** Counts since the last call of this method, by the same names; null if unknown. */
  observe(now: CounterReading): ReadonlyMap<string, number> | null
  /** Stops reading: nobody needs figures. */
  rest(): void
}

interface SamplerOptions {
  readonly reader: CounterReader
  /** Returns false when there is no link. */
  readonly send: (samples: Unsent<Samples>) => boolean
  readonly isLinked: () => boolean
  readonly figures: SampledFigures
  /** Only these counters are sent; others are read as well. */
  readonly isReported: CounterSelection
  /** Called with each reading of the interval, whether or not it is sent. */
  readonly onReading: (now: CounterReading) => void
  readonly log: Logger
}

const liveIntervalMs = 1_000
/** A cache may have thousands of figures, and the archive stores single precision: more digits would be wasted. */
const figureDigits = 7

export class CounterSampler {
  readonly #options: SamplerOptions
  readonly #regular: Series
  readonly #live: Series
  #liveEnd: NodeJS.Timeout | null = null
  /** The names that were sent on this link, in one string. */
  #sentNames: string | null = null
  #takesFigures = false

  constructor(options: SamplerOptions) {
    this.#options = options
    this.#regular = new Series(options, (now, before) => {
      options.onReading(now)
      this.#send(now, before, false)
    })
    this.#live = new Series(options, (now, before) => {
      // The first reading is only the base for the second.
      if (before !== null) this.#send(now, before, true)
    })
  }

  /** Called with each welcome; without an interval no samples are wanted. */
  start(intervalMs: number | undefined, takesFigures: boolean): void {
    this.#sentNames = null
    this.#takesFigures = takesFigures
    if (!takesFigures) this.#options.figures.rest()
    this.#regular.setInterval(intervalMs ?? null)
  }

  /** `forMs`: 0 ends the subscription. */
  watch(forMs: number): void {
    if (this.#liveEnd) clearTimeout(this.#liveEnd)
    this.#live.setInterval(forMs > 0 ? liveIntervalMs : null)
    this.#liveEnd = setTimeout(() => {
      this.#live.setInterval(null)
    }, forMs)
  }

  /** Resolves when no reading is in progress. */
  async stop(): Promise<void> {
    if (this.#liveEnd) clearTimeout(this.#liveEnd)
    await Promise.all([this.#regular.stop(), this.#live.stop()])
  }

  #send(now: CounterReading, before: CounterReading | null, live: boolean): void {
    if (!this.#options.isLinked()) return
    const counters = computeRates(before, narrowReading(now, this.#options.isReported))
    if (counters.size === 0) return
    const hasFigures = this.#takesFigures && !live
    const rates = hasFigures ? new Map([...counters, ...this.#takeFigures(now)]) : counters
    const names = [...rates.keys()]
    const text = names.join(' ')
    const at = Math.round(Date.now() - (performance.now() - now.atMs))
    const isSent = this.#options.send({
      kind: 'samples',
      traceId: newTraceId(),
      at,
      live,
      ...(text !== this.#sentNames && { names }),
      values: [...rates.values()],
    })
    if (isSent) this.#sentNames = text
  }

  *#takeFigures(now: CounterReading): Generator<readonly [string, number]> {
    for (const [name, rate] of this.#options.figures.take(now))
      yield [name, Number(rate.toPrecision(figureDigits))]
  }
}

type Take = (now: CounterReading, before: CounterReading | null) => void

/** Consecutive readings at a constant interval. */
class Series {
  readonly #options: Pick<SamplerOptions, 'reader' | 'log'>
  readonly #take: Take
  #intervalMs: number | null = null
  #loop: Loop | null = null

  constructor(options: Pick<SamplerOptions, 'reader' | 'log'>, take: Take) {
    this.#options = options
    this.#take = take
  }

  /** An unchanged interval is not restarted. Null: none. */
  setInterval(intervalMs: number | null): void {
    if (intervalMs === this.#intervalMs) return
    this.#intervalMs = intervalMs
    void this.#loop?.close()
    this.#loop = intervalMs === null ? null : this.#start(intervalMs)
  }

  async stop(): Promise<void> {
    this.#intervalMs = null
    await this.#loop?.close()
  }

  #start(intervalMs: number): Loop {
    const { reader, log } = this.#options
    let before: CounterReading | null = null
    // Spreads agents that started together.
    const firstMs = intervalMs * Math.random()
    let dueAtMs = performance.now() + firstMs
    return startLoop({
      log,
      trouble: 'the counters cannot be read',
      everyMs: intervalMs,
      firstMs,
      pass: async ({ signal, nextIn }) => {
        const now = await reader.read()
        if (signal.aborted) return
        if (now !== null) {
          this.#take(now, before)
          before = now
        }
        const lateMs = Math.max(0, performance.now() - dueAtMs)
        // At least half an interval ahead: the cache updates counters in batches, so a reading after a few ms would show a peak.
        dueAtMs += intervalMs * (1 + Math.round(lateMs / intervalMs))
        nextIn(dueAtMs - performance.now())
      },
    })
  }
}
