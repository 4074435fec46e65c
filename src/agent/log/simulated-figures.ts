/**
 * Figures of a simulated cache's traffic (docs/behaviour.md, Live log): its counters, distributed among the groups and domains
 * that it serves, with the largest share for the first domain. A thousand such caches cost almost nothing.
 */
import { countSince, type CounterReading } from '../counters/counter-rates.js'
import type { SampledFigures } from '../counters/sampler.js'
import type { ServedGroups } from './served-groups.js'

/** As for a real cache (traffic/figures.ts). */
const maxDomains = 100

interface Subject {
  /** Names of its series, in the order of the values from `countFigures`. */
  readonly names: readonly string[]
  /** Share of the cache's whole traffic. */
  readonly share: number
}

const figures = [
  ...['requests', 'hits', 'misses', 'passes', 'synths'],
  ...['status_2xx', 'status_3xx', 'status_4xx', 'status_5xx', 'bytes'],
  ...['ttfb_1', 'ttfb_2', 'ttfb_50', 'ttfb_100', 'ttfb_500'],
]

export class SimulatedFigures implements SampledFigures {
  readonly #groups: Pick<ServedGroups, 'refresh' | 'served'>
  #served: ReadonlySet<string> | null = null
  #subjects: readonly Subject[] = []
  #before: CounterReading | null = null
  #observedBefore: CounterReading | null = null

  constructor(groups: Pick<ServedGroups, 'refresh' | 'served'>) {
    this.#groups = groups
  }

  take(now: CounterReading): ReadonlyMap<string, number> {
    const before = this.#before
    this.#before = now
    return this.#count(before, now)
  }

  observe(now: CounterReading): ReadonlyMap<string, number> | null {
    const before = this.#observedBefore
    this.#observedBefore = now
    if (before === null) return null
    const seconds = (now.atMs - before.atMs) / 1000
    return new Map([...this.#count(before, now)].map(([name, rate]) => [name, rate * seconds]))
  }

  #count(before: CounterReading | null, now: CounterReading): ReadonlyMap<string, number> {
    void this.#groups.refresh().catch(() => undefined) // keeps the earlier groups
    if (this.#groups.served !== this.#served) {
      this.#served = this.#groups.served
      this.#subjects = shareOut([...this.#served])
    }
    const rates = new Map<string, number>()
    if (before === null || this.#subjects.length === 0) return rates
    const values = countFigures(before, now)
    for (const { names, share } of this.#subjects)
      for (const [at, name] of names.entries()) rates.set(name, (values[at] ?? 0) * share)
    return rates
  }

  rest(): void {
    this.#before = null
  }
}

/** `served`: names as in ServedGroups; a root group has no domains. */
function shareOut(served: readonly string[]): readonly Subject[] {
  const domains = served.filter((name) => name.startsWith('DOMAIN.')).slice(0, maxDomains)
  const weights = domains.map((_, at) => 1 / (at + 1))
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  const shares = new Map(domains.map((name, at) => [name, (weights[at] ?? 0) / whole]))
  const ofGroup = (group: string): number =>
    domains
      .filter((name) => name.startsWith(`${group.replace('GROUP.', 'DOMAIN.')}:`))
      .reduce((sum, name) => sum + (shares.get(name) ?? 0), 0)
  for (const group of served.filter((name) => name.startsWith('GROUP.')))
    shares.set(group, domains.length === 0 ? 1 : ofGroup(group))
  return [...shares].map(([subject, share]) => ({
    share,
    names: figures.map((figure) => `${subject}.${figure}`),
  }))
}

/** Per second, for the whole cache. */
function countFigures(before: CounterReading, now: CounterReading): readonly number[] {
  const seconds = (now.atMs - before.atMs) / 1000
  const count = (field: string): number => {
    const counted = countSince(before, now, `MAIN.${field}`)
    return counted === null || seconds <= 0 ? 0 : Number(counted) / seconds
  }
  const [requests, hits, misses] = [count('client_req'), count('cache_hit'), count('cache_miss')]
  const [passes, synths] = [count('s_pass'), count('s_synth')]
  const fetches = misses + passes
  const failed = count('fetch_failed') + synths
  const [moved, missing] = [requests * 0.03, requests * 0.02]
  return [
    ...[requests, hits, misses, passes, synths],
    ...[requests - moved - missing - failed, moved, missing, failed],
    count('s_resp_hdrbytes') + count('s_resp_bodybytes'),
    ...[(requests - fetches) * 0.8, (requests - fetches) * 0.2],
    ...[fetches * 0.6, fetches * 0.3, fetches * 0.1],
  ]
}
