/** Figures by group and domain, the sketch of the most frequent keys, parsing of log lines, and masking. */
import fc from 'fast-check'
import t from 'tap'
import { figureFormat, parseFigureLine } from '../../src/traffic/figure-line.js'
import {
  chooseSample,
  chooseScale,
  FigureSums,
  findPercentile,
  firstByteSeries,
  followSample,
  nameFirstByte,
} from '../../src/traffic/figures.js'
import { decodeField, lineFormat, parseLogLine, toTransaction } from '../../src/traffic/log-line.js'
import { maskClient, maskUrl } from '../../src/traffic/masking.js'
import { mergeCounts, SpaceSaving } from '../../src/traffic/space-saving.js'
import { createRouteFinder } from '../../src/vcl/route-finder.js'
import { makeRoutingVcl, readRoutes } from '../../src/vcl/routing.js'

const masking = { headers: [], masksQuery: true, masksClients: true }

void t.test('the routes of a routing VCL are parsed back from its text', (t) => {
  const fqdn = fc.constantFrom(
    'a.example',
    'b.example',
    '*.example',
    '*.a.example',
    'x-1.b.example',
    '*.b.example.org',
  )
  const route = fc.record({ fqdn, groupId: fc.integer({ min: 1, max: 99 }), stage: fc.boolean() })
  fc.assert(
    fc.property(fc.uniqueArray(route, { minLength: 1, selector: (one) => one.fqdn }), (routes) => {
      const byName = (a: { fqdn: string }, b: { fqdn: string }): number =>
        a.fqdn < b.fqdn ? -1 : 1
      t.same(readRoutes(makeRoutingVcl(routes).text).toSorted(byName), routes.toSorted(byName))
    }),
  )
  t.end()
})

void t.test('a Host is mapped to the same group as in the routing VCL', (t) => {
  const find = createRouteFinder([
    { fqdn: 'www.example', groupId: 1 },
    { fqdn: '*.example', groupId: 2 },
    { fqdn: '*.a.example', groupId: 3 },
  ])
  const hosts = [
    ['www.example', 1],
    ['WWW.Example.:8080', 1],
    ['x.example', 2],
    ['x.y.a.example', 3],
    ['a.example', 2],
    ['example', undefined],
    ['', undefined],
    ['www.example/', undefined],
    ['www.example..', undefined],
  ] as const
  for (const [host, groupId] of hosts) t.equal(find(host)?.groupId, groupId, host)
  t.end()
})

void t.test('a log field is decoded; bytes that are not UTF-8 stay escaped', (t) => {
  const fields = [
    ['/plain', '/plain'],
    ['/a\\"b\\\\c\\td\\ne', '/a"b\\c\td\ne'],
    ['/\\xc3\\xa4', '/ä'],
    ['/\\xff\\xfe', '/\\xff\\xfe'],
    ['/\\x1b[31m', '/\x1b[31m'],
  ] as const
  for (const [field, text] of fields) t.equal(decodeField(field), text)
  t.end()
})

void t.test('a line is parsed completely or not at all', (t) => {
  const parts = [
    'c',
    '5',
    '3',
    'rxreq',
    '1700000000.123456',
    'GET',
    '/a?token=1',
    'a.example',
    '200',
    '512',
    '0.001234',
    '2000',
    'hit',
    '-',
    '192.0.2.77',
  ]
  t.equal(lineFormat.split('\\t').length, parts.length)
  const line = parseLogLine(parts.join('\t'))
  t.same(line && toTransaction(line, '-', masking), {
    at: 1_700_000_000_123,
    method: 'GET',
    url: '/a?[masked]',
    host: 'a.example',
    status: 200,
    bytes: 512,
    ttfbMs: 1.23,
    durationMs: 2,
    handling: 'hit',
    backend: '-',
    xid: 5,
    client: '192.0.2.0',
  })
  t.equal(parseLogLine(parts.slice(1).join('\t')), null)
  t.equal(parseLogLine(`${parts.join('\t')}\tmore`), null)
  const odd = parseLogLine(parts.with(4, '-').join('\t'))
  t.equal(odd && toTransaction(odd, '-', masking), null)
  t.end()
})

void t.test('client addresses are truncated, other texts masked', (t) => {
  const addresses = [
    ['192.0.2.77', '192.0.2.0'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::'],
    ['2001:db8::9', '2001:db8::'],
    ['::1', '::'],
    ['::ffff:192.0.2.7', '::ffff:192.0.2.0'],
    ['/run/socket', '[masked]'],
  ] as const
  for (const [address, cut] of addresses) t.equal(maskClient(address, masking), cut)
  t.equal(maskClient('192.0.2.77', { ...masking, masksClients: false }), '192.0.2.77')
  t.equal(maskUrl('/a?b', { ...masking, masksQuery: false }), '/a?b')
  t.end()
})

void t.test(
  'the sketch keeps every sufficiently frequent key, with counts correct within their errors',
  (t) => {
    const key = fc.nat(40).map((number) => `k${Math.floor(number ** 2 / 40)}`)
    fc.assert(
      fc.property(
        fc.array(key, { maxLength: 400 }),
        fc.integer({ min: 1, max: 12 }),
        (keys, capacity) => {
          const sketch = new SpaceSaving(capacity)
          const truth = new Map<string, number>()
          for (const one of keys) {
            sketch.add(one)
            truth.set(one, (truth.get(one) ?? 0) + 1)
          }
          const kept = sketch.listTop(capacity)
          const counted = kept.map(({ count }) => count)
          t.same(
            counted,
            counted.toSorted((a, b) => b - a),
          )
          for (const one of kept) {
            const count = truth.get(one.key) ?? 0
            t.ok(count <= one.count && one.count - one.error <= count, one.key)
          }
          for (const [one, count] of truth)
            if (count > keys.length / capacity)
              t.ok(
                kept.some((found) => found.key === one),
                one,
              )
        },
      ),
    )
    const merged = mergeCounts(
      [
        [{ key: 'a', count: 2, error: 0 }],
        [
          { key: 'a', count: 3, error: 1 },
          { key: 'b', count: 4, error: 0 },
        ],
      ],
      5,
    )
    t.same(merged, [
      { key: 'a', count: 5, error: 1 },
      { key: 'b', count: 4, error: 0 },
    ])
    t.end()
  },
)

void t.test('figures of a sample are scaled to the total the cache counted', (t) => {
  const sums = new FigureSums()
  const seen = { status: 200, handling: 'hit', bytes: 100, firstByteMs: 3 } as const
  sums.add(1, 'a.example', seen)
  sums.add(1, 'b.example', { ...seen, status: 503, handling: 'synth', firstByteMs: null })
  sums.skip()
  sums.add(2, null, { ...seen, handling: 'miss', firstByteMs: 60_000 })
  const rates = sums.take({ scale: 100, seconds: 10 })
  t.equal(rates.get('GROUP.1.requests'), 20)
  t.equal(rates.get('GROUP.1.hits'), 10)
  t.equal(rates.get('GROUP.1.status_5xx'), 10)
  t.equal(rates.get('DOMAIN.1:a.example.ttfb_5'), 10)
  t.equal(rates.get('GROUP.2.ttfb_more'), 10)
  t.equal(rates.get('GROUP.2.bytes'), 1000)
  t.equal(sums.take({ scale: 5, seconds: 10 }).get('GROUP.1.requests'), 0)
  t.end()
})

void t.test('domains beyond the limit are counted together', (t) => {
  const sums = new FigureSums()
  const seen = { status: 200, handling: 'hit', bytes: 0, firstByteMs: 0 } as const
  for (let number = 0; number < 102; number++) sums.add(1, `d${number}.example`, seen)
  const rates = sums.take({ scale: 1, seconds: 1 })
  t.equal(rates.get('DOMAIN.1:other.requests'), 2)
  t.equal(rates.get('DOMAIN.1:d99.example.requests'), 1)
  sums.keepOnly((name) => name.startsWith('GROUP.'))
  t.same(
    [...sums.take({ scale: 0, seconds: 1 }).keys()].filter((name) => name.startsWith('DOMAIN')),
    [],
  )
  t.end()
})

void t.test('the scale is the number of requests the cache counted per line', (t) => {
  const cases = [
    [{ sample: 1, lines: 5, requests: 100 }, 1, 'late lines come with the next ones'],
    [{ sample: 1, lines: 0, requests: 100 }, 1, 'as all of them may be'],
    [{ sample: 1, lines: 100, requests: 1000 }, 10, 'most were over the bound'],
    [{ sample: 10, lines: 50, requests: 600 }, 12, 'a sample is what it is'],
    [{ sample: 10, lines: 50, requests: null }, 10, 'the cache restarted'],
    [{ sample: 10, lines: 0, requests: 3 }, 0, 'none was of the sample'],
  ] as const
  for (const [read, scale, why] of cases)
    t.equal(chooseScale({ ...read, maxLines: 400 }), scale, why)
  t.equal(followSample(null, 150, 200), 1)
  t.equal(followSample(1, 201, 200), 10)
  t.equal(followSample(10, 190, 200), 10, 'the sample does not oscillate')
  t.equal(followSample(10, 100, 200), 1)
  t.end()
})

void t.test('a line for figures is parsed completely or not at all', (t) => {
  t.match(parseFigureLine('a.example\t503\tsynth\t310\t0.0123'), {
    host: 'a.example',
    seen: { status: 503, handling: 'synth', bytes: 310 },
  })
  t.equal(parseFigureLine('a.example\t200\tpipe\t310\t-')?.seen.firstByteMs, null)
  for (const line of ['', 'a.example\t200', 'a\t-\thit\t1\t-', 'a\tb\t200\thit\t1\t-'])
    t.equal(parseFigureLine(line), null, line)
  t.equal(figureFormat.split('\\t').length, 5)
  t.end()
})

void t.test('the percentile of a histogram falls into the bucket of the true percentile', (t) => {
  const times = fc.array(fc.double({ min: 0, max: 20_000, noNaN: true }), {
    minLength: 1,
    maxLength: 50,
  })
  fc.assert(
    fc.property(times, fc.constantFrom(0.5, 0.95, 0.99), (all, share) => {
      const counts = firstByteSeries.map(
        (series) => all.filter((one) => nameFirstByte(one) === series).length,
      )
      const sorted = all.toSorted((a, b) => a - b)
      const truth = sorted[Math.ceil(share * all.length) - 1] ?? 0
      const found = findPercentile(counts, share) ?? -1
      t.equal(
        nameFirstByte(Math.max(found, Number.MIN_VALUE)),
        truth > 10_000 ? 'ttfb_10000' : nameFirstByte(truth),
      )
    }),
  )
  t.equal(findPercentile([], 0.5), null)
  t.same(
    [150, 1500, 15_000, 200_000].map((rate) => chooseSample(rate, 200)),
    [1, 10, 100, 1000],
  )
  t.end()
})
