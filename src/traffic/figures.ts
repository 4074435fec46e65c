/**
 * Figures of a cache's traffic by group and domain, summed over a span: counts that add up over caches and spans, so that hit
 * ratios and percentiles are of sums (docs/behaviour.md, Live log).
 */
import type { Handling } from '../resources/logged-transaction.js'

/** Upper bounds in milliseconds; what took longer is in the last, `ttfb_more`. */
const firstByteBoundsMs = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000] as const
const slowest = 'ttfb_more'
const byHandling = { hit: 'hits', miss: 'misses', pass: 'passes', synth: 'synths' } as const

/** Of one request. */
export interface Observed {
  readonly status: number
  readonly handling: Handling
  readonly bytes: number
  readonly firstByteMs: number | null
}

/** Series of one cache are bounded: domains beyond these are `other` of their group, groups beyond these have none. */
const domainsMost = 100
export const groupsMost = 40
const otherDomains = 'other'
const errors = 'status_5xx'

type Counts = Map<string, number>

export class FigureSums {
  readonly #groups = new Map<string, Counts>()
  /** By group and name: another group may have had it before, of another organization. */
  readonly #domains = new Map<string, Counts>()
  #lines = 0

  /** `fqdn`: the configured domain; null: a root group's. */
  add(groupId: number, fqdn: string | null, seen: Observed): void {
    this.#lines += 1
    const group = String(groupId)
    if (!this.#groups.has(group) && this.#groups.size >= groupsMost) return
    const counts = takeCounts(this.#groups, group)
    // Where requests are known, so are errors, though there were none.
    counts.set(errors, counts.get(errors) ?? 0)
    addTo(counts, seen)
    if (fqdn === null) return
    const domain = `${group}:${fqdn}`
    const hasOwn = this.#domains.has(domain) || this.#domains.size < domainsMost
    addTo(takeCounts(this.#domains, hasOwn ? domain : `${group}:${otherDomains}`), seen)
  }

  /** What was not of any group: it counts in the sample only. */
  skip(): void {
    this.#lines += 1
  }

  /** Since the last `take`. */
  get lines(): number {
    return this.#lines
  }

  /** Per second, where a line stands for `scale` requests; and begins anew. */
  take({ scale, seconds }: { readonly scale: number; readonly seconds: number }): Counts {
    const rates: Counts = new Map()
    for (const [subject, counts] of this.#subjects())
      for (const [figure, count] of counts) {
        rates.set(`${subject}.${figure}`, (count * scale) / seconds)
        // A name stays, at zero, while the agent runs: a series without requests is no gap.
        counts.set(figure, 0)
      }
    this.#lines = 0
    return rates
  }

  /** Without the groups that left and the domains that are no more. */
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

/** Series of the classes of statuses. */
export const statusSeries = [1, 2, 3, 4, 5].map((digit) => `status_${digit}xx`)

/** What is shown where nobody names figures. */
export const usualFigures = ['requests', ...Object.values(byHandling), ...statusSeries, 'bytes']

export const figureNames = [...usualFigures, ...firstByteSeries]

export type Sample = 1 | 10 | 100 | 1000

/** Sampled lines a second that are expected at most are `most`: one of so many transactions. */
export function chooseSample(requestsPerSecond: number, most: number): Sample {
  const fitting = ([1, 10, 100] as const).find((one) => requestsPerSecond / one <= most)
  return fitting ?? 1000
}

/** A rate has to fall so far below the bound before more of the log is read, so that none goes to and fro. */
const room = 1.5

/** The sample that follows on `sample`; null: none was read yet. */
export function followSample(sample: Sample | null, requestsPerSecond: number, most: number) {
  const fitting = chooseSample(requestsPerSecond, most)
  if (sample === null || fitting >= sample) return fitting
  return chooseSample(requestsPerSecond * room, most)
}

interface Read {
  readonly sample: Sample
  readonly lines: number
  /** What the cache counted meanwhile; null: not known, since it restarted. */
  readonly requests: number | null
  /** So many lines the tool writes in this time, whatever comes. */
  readonly linesMost: number
}

/** For how many requests a line stands. */
export function chooseScale({ sample, lines, requests, linesMost }: Read): number {
  if (requests === null) return sample
  // All are read: those that are late, as on a busy host, come with the next ones.
  if (sample === 1 && requests <= linesMost) return 1
  return lines === 0 ? 0 : requests / lines
}

/**
 * Queries the transactions of one of `sample`: by the last digits of the microsecond at which they began, so that each is as
 * likely as any other (varnish-cache, cache_req_fsm.c: `Timestamp: Start: 1700000000.123456 …`).
 */
export function sampleQuery(sample: Sample): string | null {
  const digits = { 1: '', 10: '7', 100: '37', 1000: '137' }[sample]
  return digits === '' ? null : `{1}Timestamp:Start[1] ~ "${digits}$"`
}
