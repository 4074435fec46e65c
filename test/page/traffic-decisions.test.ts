/** Graphs of the requests of a group or a domain: their calls, and the series drawn from the answers. */
import fc from 'fast-check'
import t from 'tap'
import { columnsOf } from '../../src/page/views/graphs/graphs-shown.js'
import {
  formatSubject,
  readSubject,
  seriesPath,
  subjectKinds,
  trafficPath,
} from '../../src/page/views/graphs/subject.js'
import { toSeries, trafficGraphs } from '../../src/page/views/graphs/traffic-shown.js'

const range = { from: 10, to: 70 }

void t.test('groups have graphs of requests and of caches, domains only of requests', (t) => {
  const [group, domain] = [
    { kind: 'vclgroups', ids: [3] },
    { kind: 'domains', ids: [4] },
  ] as const
  t.equal(trafficPath(group, range, 'status'), '/vclgroups/3/graph/status/AVERAGE/10/70')
  t.equal(trafficPath(domain, range, 'bytes'), '/domains/4/graph/bytes/AVERAGE/10/70')
  t.match(seriesPath(group, range, ['MAIN.uptime']), /^\/vclgroups\/3\/stats\//)
  t.equal(seriesPath(domain, range, ['MAIN.uptime']), null)
  t.equal(trafficPath({ kind: 'agents', ids: [1] }, range, 'status'), null)
  for (const { value: kind } of subjectKinds) {
    const subject = { kind, ids: kind === 'fleet' ? [] : [7] }
    t.same(readSubject(formatSubject(subject)), subject, 'the address holds it')
  }
  t.end()
})

void t.test('each field of the rows is a series, with the times that have a value', (t) => {
  const rows = [
    { time: 10, p50: 1, p95: 5 },
    { time: 20, p50: 2 },
  ]
  t.same(toSeries(rows), [
    {
      counter: 'p50',
      values: [
        { time: 10, value: 1 },
        { time: 20, value: 2 },
      ],
    },
    { counter: 'p95', values: [{ time: 10, value: 5 }] },
  ])
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 1, max: 1000 }), { maxLength: 20 }),
      fc.float({ noNaN: true }),
      (times, value) => {
        const series = toSeries(times.map((time) => ({ time, status_2xx: value })))
        return series.flatMap(({ values }) => values).length === times.length
      },
    ),
  )
  t.end()
})

void t.test('status classes are stacked', (t) => {
  const [status] = trafficGraphs.filter(({ isStacked }) => isStacked)
  const series = toSeries([{ time: 10, status_2xx: 8, status_5xx: 2 }])
  t.same(status && columnsOf(status, series), {
    times: [10],
    values: [[8], [null], [null], [null], [2]],
  })
  t.end()
})
