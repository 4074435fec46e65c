/**
 * Traffic figures of a cache by group and domain, summed over a time span. Counts can be added over caches and spans, so that hit
 * ratios and percentiles are computed from sums (docs/behaviour.md, Live log).
 */
import type { Handling } from '../resources/logged-transaction.js'

/** Upper bounds in milliseconds; slower requests are counted in `ttfb_more`. */
const firstByteBoundsMs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000] as const
const slowest = 'ttfb_more'
const byHandling = { hit: 'hits', miss: 'misses', pass: 'passes', synth: 'synths' } as const

/** One request. */
export interface Observed {
  readonly status: number
  readonly handling: Handling
  readonly bytes: number
  readonly firstByteMs: number | null
}

/** Limits of a cache's series: further domains count as `other` of their group, further groups have no series. */
const maxDomains = 100
export const maxGroups = 40
const otherDomains = 'other'
const errors = 'status_5xx'

type Counts = Map<string, number>

export class FigureSums {
  readonly #groups = new Map<string, Counts>()
  /** Keyed by group and name, because another organization's group may have had the domain before. */
  readonly #domains = new Map<string, Counts>()
  #lines = 0

  /** `fqdn`: the configured domain; null for a root group. */
  add(groupId: number, fqdn: string | null, seen: Observed): void {
    this.#lines += 1
    const group = String(groupId)
    if (!this.#groups.has(group) && this.#groups.size >= maxGroups) return
    const counts = takeCounts(this.#groups, group)
    // A group with requests always has the error series, even at zero.
    counts.set(errors, counts.get(errors) ?? 0)
    addTo(counts, seen)
    if (fqdn === null) return
    const domain = `${group}:${fqdn}`
    const hasOwn = this.#domains.has(domain) || this.#domains.size < maxDomains
    addTo(takeCounts(this.#domains, hasOwn ? domain : `${group}:${otherDomains}`), seen)
  }

  /** Counts a line of no group, which matters only for the scale of the sample. */
  skip(): void {
    this.#lines += 1
  }

  /** Lines since the last `take`. */
  get lines(): number {
    return this.#lines
  }

  /** Returns rates per second, where a line represents `scale` requests, and resets the counts. */
  take({ scale, seconds }: { readonly scale: number; readonly seconds: number }): Counts {
    const rates: Counts = new Map()
    for (const [subject, counts] of this.#subjects())
      for (const [figure, count] of counts) {
        rates.set(`${subject}.${figure}`, (count * scale) / seconds)
        // A name stays, at zero, while the agent runs, so that a series without requests has no gap.
        counts.set(figure, 0)
      }
    this.#lines = 0
    return rates
  }

  /** Drops groups and domains that are no longer served. */
  keepOnly(isThere: (subject: string) => boolean): void {
    for (const group of this.#groups.keys())
      if (!isThere(`GROUP.${group}`)) this.#groups.delete(group)
    for (const domain of this.#domains.keys())
      if (!isThere(`DOMAIN.${domain}`)) this.#domains.delete(domain)
  }

  *#subjects(): Generator<readonly [string, Counts]> {
    for (const [group, counts] of this.#groups) yield [`GROUP.${group}`, counts]
    for (const [domain, counts] of this.#domains) yield [`DOMAIN.${domain}`, counts]
  }
}

function takeCounts(all: Map<string, Counts>, name: string): Counts {
  const counts = all.get(name) ?? new Map<string, number>()
  all.set(name, counts)
  return counts
}

function addTo(counts: Counts, { status, handling, bytes, firstByteMs }: Observed): void {
  const add = (name: string, amount: number): void => {
    counts.set(name, (counts.get(name) ?? 0) + amount)
  }
  add('requests', 1)
  if (handling !== 'pipe') add(byHandling[handling], 1)
  if (status >= 100 && status < 600) add(`status_${Math.floor(status / 100)}xx`, 1)
  add('bytes', bytes)
  if (firstByteMs !== null) add(nameFirstByte(firstByteMs), 1)
}

export function nameFirstByte(firstByteMs: number): string {
  const bound = firstByteBoundsMs.find((one) => firstByteMs <= one)
  return bound === undefined ? slowest : `ttfb_${bound}`
}

/**
 * Returns the time in milliseconds that `share` of the requests did not exceed; null without requests. `counts`: in the order of
 * `firstByteSeries`. The time is interpolated linearly between two bounds; beyond the last bound it is that bound.
 */
export function findPercentile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total <= 0) return null
  let below = 0
  for (const [at, bound] of firstByteBoundsMs.entries()) {
    const count = counts[at] ?? 0
    if (below + count >= share * total && count > 0) {
      const from = firstByteBoundsMs[at - 1] ?? 0
      return from + ((share * total - below) / count) * (bound - from)
    }
    below += count
  }
  return firstByteBoundsMs.at(-1) ?? null
}

/** Series of the histogram, in the order that `findPercentile` expects. */
export const firstByteSeries = [...firstByteBoundsMs.map((bound) => `ttfb_${bound}`), slowest]

/** Series of the status classes. */
export const statusSeries = [1, 2, 3, 4, 5].map((digit) => `status_${digit}xx`)

/** Shown when the caller names no figures. */
export const usualFigures = ['requests', ...Object.values(byHandling), ...statusSeries, 'bytes']

export const figureNames = [...usualFigures, ...firstByteSeries]

export type Sample = 1 | 10 | 100 | 1000

/** Returns the smallest N, up to 1000, for which one of N transactions gives at most `most` expected lines per second. */
export function chooseSample(requestsPerSecond: number, most: number): Sample {
  const fitting = ([1, 10, 100] as const).find((one) => requestsPerSecond / one <= most)
  return fitting ?? 1000
}

/** The rate must be below the bound by this factor before more of the log is read, to avoid switching back and forth. */
const room = 1.5

/** Returns the sample to read after `sample`; null: none was read yet. */
export function followSample(sample: Sample | null, requestsPerSecond: number, most: number) {
  const fitting = chooseSample(requestsPerSecond, most)
  if (sample === null || fitting >= sample) return fitting
  return chooseSample(requestsPerSecond * room, most)
}

interface Read {
  readonly sample: Sample
  readonly lines: number
  /** Requests that the cache counted meanwhile; null if unknown because it restarted. */
  readonly requests: number | null
  /** The tool prints at most this many lines in the time. */
  readonly maxLines: number
}

/** Returns how many requests a line represents. */
export function chooseScale({ sample, lines, requests, maxLines }: Read): number {
  if (requests === null) return sample
  // All lines are read; late ones, as on a busy host, count in the next reading.
  if (sample === 1 && requests <= maxLines) return 1
  return lines === 0 ? 0 : requests / lines
}

/**
 * Returns a query for one of `sample` transactions, by the last digits of the microsecond at which they began, so that each is
 * equally likely (varnish-cache, cache_req_fsm.c: `Timestamp: Start: 1700000000.123456 …`).
 */
export function sampleQuery(sample: Sample): string | null {
  const digits = { 1: '', 10: '7', 100: '37', 1000: '137' }[sample]
  return digits === '' ? null : `{1}Timestamp:Start[1] ~ "${digits}$"`
}
