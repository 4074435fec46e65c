/** Rates and totals of a modelled cache: traffic, deploys and restarts between readings; properties. */
import fc from 'fast-check'
import t from 'tap'
import {
  computeRates,
  counterLimit,
  type CounterReading,
} from '../../../src/agent/counters/counter-rates.js'
import { addReading, type CounterTotals } from '../../../src/agent/counters/counter-totals.js'
import { kindOfCounter } from '../../../src/resources/counters.js'

type Step =
  | { readonly do: 'serve'; readonly requests: number }
  | { readonly do: 'deploy' }
  | { readonly do: 'restart' }
  | { readonly do: 'discard' }
  | { readonly do: 'read'; readonly afterMs: number }

const anySteps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('serve'), requests: fc.nat(1_000_000) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('read'), afterMs: fc.nat(20_000) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('deploy', 'restart', 'discard') }) },
  ),
  { maxLength: 40 },
) as fc.Arbitrary<Step[]>

interface Interval {
  readonly before: CounterReading | null
  readonly now: CounterReading
  /** Requests actually served since the previous reading. */
  readonly served: number
  /** Whether part of them can no longer be known. */
  readonly wasLost: boolean
}

/** A cache whose newest VCL serves; its counters start beyond the exact range of a double. */
function* live(steps: readonly Step[], first = 2n ** 62n): Generator<Interval> {
  let [atMs, life, vcl, served, wasLost] = [0, 0, 0, 0, false]
  let requests = first
  let backends = new Map([[0, first]])
  let before: CounterReading | null = null
  for (const step of steps) {
    if (step.do === 'serve') {
      requests += BigInt(step.requests)
      backends.set(vcl, (backends.get(vcl) ?? 0n) + BigInt(step.requests))
      served += step.requests
    } else if (step.do === 'deploy') backends.set(++vcl, 0n)
    else if (step.do === 'discard') {
      wasLost ||= backends.size > 1
      backends = new Map([[vcl, backends.get(vcl) ?? 0n]])
    } else if (step.do === 'restart') {
      life += 1
      requests = 0n
      backends = new Map([[vcl, 0n]])
      wasLost = true
    } else {
      atMs += step.afterMs
      const now: CounterReading = {
        atMs,
        lives: { manager: 'm', child: String(life) },
        isComplete: true,
        values: new Map([
          ['MAIN.client_req', requests],
          ['MAIN.threads', 200n],
          ...[...backends].map(([n, sum]) => [`VBE.cf-1-${n}.origin.req`, sum] as const),
        ]),
      }
      yield { before, now, served, wasLost }
      ;[before, served, wasLost] = [now, 0, false]
    }
  }
}

void t.test('a rate is exact, lower where a part is lost, or unknown', (t) => {
  fc.assert(
    fc.property(anySteps, (steps) => {
      for (const { before, now, served, wasLost } of live(steps)) {
        const rates = computeRates(before, now)
        t.equal(rates.get('MAIN.threads'), 200, 'a level is passed on unchanged')
        const seconds = (now.atMs - (before?.atMs ?? now.atMs)) / 1000
        for (const name of ['MAIN.client_req', 'VBE.origin.req']) {
          const rate = rates.get(name) ?? null
          if (before === null || seconds === 0) t.equal(rate, null)
          else if (!wasLost) t.equal(Math.round((rate ?? -1) * seconds), served, name)
          else t.ok(rate === null || (rate >= 0 && rate * seconds <= served + 0.5), name)
        }
      }
    }),
  )
  t.end()
})

void t.test('a restart yields no rate, even if the counters exceed their old values', (t) => {
  fc.assert(
    fc.property(fc.nat(1000), fc.integer({ min: 1, max: 1_000_000 }), (earlier, more) => {
      const reading = (life: string, atMs: number, value: number): CounterReading => ({
        atMs,
        lives: { manager: life, child: life },
        isComplete: true,
        values: new Map(['MAIN.client_req', 'MGT.child_died'].map((name) => [name, BigInt(value)])),
      })
      const rates = computeRates(reading('a', 0, earlier), reading('b', 1000, earlier + more))
      t.same([...rates.values()], [null, null])
    }),
  )
  t.end()
})

void t.test('counters of the manager continue when its child restarts', (t) => {
  const reading = (child: string, atMs: number, died: bigint): CounterReading => ({
    atMs,
    lives: { manager: 'm', child },
    isComplete: true,
    values: new Map([['MGT.child_died', died]]),
  })
  t.equal(computeRates(reading('a', 0, 3n), reading('b', 2000, 4n)).get('MGT.child_died'), 0.5)
  t.end()
})

void t.test('a counter that reappears after an incomplete reading is not a jump', (t) => {
  const reading = (atMs: number, values: [string, bigint][]): CounterReading => ({
    atMs,
    lives: { manager: 'm', child: 'c' },
    isComplete: false,
    values: new Map(values),
  })
  const rates = computeRates(reading(0, []), reading(1000, [['VBE.boot.a.req', 1_000_000n]]))
  t.equal(rates.get('VBE.a.req'), null)
  t.end()
})

void t.test('negative levels become zero, and levels are summed over VCLs', (t) => {
  const now: CounterReading = {
    atMs: 0,
    lives: { manager: 'm', child: 'c' },
    isComplete: true,
    values: new Map([
      ['MAIN.n_object', 2n ** 64n - 3n],
      ['VBE.one.a.conn', 2n],
      ['VBE.two.a(10.0.0.1:80).conn', 3n],
    ]),
  }
  t.same(
    [...computeRates(null, now)],
    [
      ['MAIN.n_object', 0],
      ['VBE.a.conn', 5],
    ],
  )
  t.end()
})

void t.test('the number of series is bounded, and backends are dropped first', (t) => {
  const now: CounterReading = {
    atMs: 0,
    lives: { manager: 'm', child: 'c' },
    isComplete: true,
    values: new Map([
      ...Array.from({ length: 1000 }, (_, n) => [`VBE.boot.b${n}.conn`, 1n] as const),
      ['MAIN.threads', 1n],
    ]),
  }
  const names = [...computeRates(null, now).keys()]
  t.equal(names.length, counterLimit)
  t.equal(names[0], 'MAIN.threads')
  t.end()
})

void t.test('totals only grow without restarts, and a discarded VCL subtracts nothing', (t) => {
  fc.assert(
    fc.property(anySteps, (steps) => {
      let totals: CounterTotals | null = null
      let counted = 0n
      for (const { before, now, served, wasLost } of live(steps, 5n)) {
        const next: CounterTotals = addReading(totals, now)
        const backend = next.totals.get('VBE.origin.req') ?? -1n
        const earlier = totals?.totals.get('VBE.origin.req') ?? 0n
        t.ok(backend >= earlier)
        t.ok(backend - earlier <= BigInt(before === null ? 0 : served), 'no events are invented')
        if (before !== null && !wasLost) t.equal(backend - earlier, BigInt(served))
        counted += backend - earlier
        t.equal(backend, counted)
        t.equal(next.totals.get('MAIN.client_req'), now.values.get('MAIN.client_req'))
        totals = next
      }
    }),
  )
  t.equal(kindOfCounter('VBE.origin.req'), 'counter')
  t.end()
})
