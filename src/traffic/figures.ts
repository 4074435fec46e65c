/**
 * Figures of a cache's traffic by group and domain, summed over a span: counts that add up over caches and spans, so that hit
 * ratios and percentiles are of sums (docs/behaviour.md, Live log).
 */
import type { Handling } from './log-line.js'

/** Upper bounds in milliseconds; what took longer is in the last, `ttfb_more`. */
export const firstByteBoundsMs = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000,
] as const
const slowest = 'ttfb_more'
const byHandling = { hit: 'hits', miss: 'misses', pass: 'passes', synth: 'synths' } as const

/** Of one request. */
export interface Observed {
  readonly status: number
  readonly handling: Handling
  readonly bytes: number
  readonly firstByteMs: number | null
}

/** Domains of a cache beyond these are `DOMAIN.other`. */
export const domainsMost = 500

export class FigureSums {
  readonly #sums = new Map<string, number>()
  readonly #domains = new Set<string>()
  #requests = 0

  /** `fqdn`: the configured domain; null: a root group's. */
  add(groupId: number, fqdn: string | null, seen: Observed): void {
    this.#requests += 1
    this.#count(`GROUP.${groupId}`, seen)
    if (fqdn !== null) this.#count(`DOMAIN.${this.#chooseDomain(fqdn)}`, seen)
  }

  /** What was not of any group: it counts in the sample only. */
  skip(): void {
    this.#requests += 1
  }

  get requests(): number {
    return this.#requests
  }

  /** Per second, scaled to what the cache counted meanwhile; and begins anew. */
  take(total: {
    readonly requests: number
    readonly seconds: number
  }): ReadonlyMap<string, number> {
    const scale = this.#requests > 0 ? total.requests / this.#requests / total.seconds : 0
    const rates = new Map([...this.#sums].map(([name, count]) => [name, count * scale]))
    // A name stays, at zero, while the agent runs: a series without requests is no gap.
    for (const name of this.#sums.keys()) this.#sums.set(name, 0)
    this.#requests = 0
    return rates
  }

  /** Groups that left and domains that are no more. */
  keepOnly(isThere: (name: string) => boolean): void {
    for (const name of this.#sums.keys()) if (!isThere(name)) this.#sums.delete(name)
    for (const fqdn of this.#domains)
      if (!isThere(`DOMAIN.${fqdn}.requests`)) this.#domains.delete(fqdn)
  }

  #chooseDomain(fqdn: string): string {
    if (!this.#domains.has(fqdn)) {
      if (this.#domains.size >= domainsMost) return 'other'
      this.#domains.add(fqdn)
    }
    return fqdn
  }

  #count(whose: string, { status, handling, bytes, firstByteMs }: Observed): void {
    this.#add(`${whose}.requests`, 1)
    if (handling !== 'pipe') this.#add(`${whose}.${byHandling[handling]}`, 1)
    if (status >= 100 && status < 600) this.#add(`${whose}.status_${Math.floor(status / 100)}xx`, 1)
    this.#add(`${whose}.bytes`, bytes)
    if (firstByteMs !== null) this.#add(`${whose}.${nameFirstByte(firstByteMs)}`, 1)
  }

  #add(name: string, amount: number): void {
    this.#sums.set(name, (this.#sums.get(name) ?? 0) + amount)
  }
}

export function nameFirstByte(firstByteMs: number): string {
  const bound = firstByteBoundsMs.find((one) => firstByteMs <= one)
  return bound === undefined ? slowest : `ttfb_${bound}`
}

/**
 * The time that `share` of the requests did not exceed, in milliseconds; null without requests. `counts`: by the bounds and the
 * slowest. Between two bounds it is linear; beyond the last it is the last.
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

/** Series of the histogram, in the order of `findPercentile`. */
export const firstByteSeries = [...firstByteBoundsMs.map((bound) => `ttfb_${bound}`), slowest]

/** Sampled lines a second that are expected at most are `most`: one of so many transactions. */
export function chooseSample(requestsPerSecond: number, most: number): 1 | 10 | 100 | 1000 {
  const fitting = ([1, 10, 100] as const).find((one) => requestsPerSecond / one <= most)
  return fitting ?? 1000
}

/**
 * Queries the transactions of one of `sample`: by the last digits of the microsecond at which they began, so that each is as
 * likely as any other (varnish-cache, cache_req_fsm.c: `Timestamp: Start: 1700000000.123456 …`).
 */
export function sampleQuery(sample: 1 | 10 | 100 | 1000): string | null {
  const digits = { 1: '', 10: '7', 100: '37', 1000: '137' }[sample]
  return digits === '' ? null : `{1}Timestamp:Start[1] ~ "${digits}$"`
}
