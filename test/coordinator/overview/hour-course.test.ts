/** The series of the last hour is the same whether it is read at once or incrementally. */
import t from 'tap'
import { hourMs, joinSteps, readHourSeries } from '../../../src/coordinator/overview/hour-course.js'
import { emptyRates, figureCounters } from '../../../src/coordinator/overview/judge-figures.js'
import {
  LocalArchive,
  planArchive,
} from '../../../src/coordinator/statistics/store/local-archive.js'
import { openRows } from '../../../src/coordinator/statistics/store/open-rows.js'

const stepMs = 10_000
const groups = new Set([7, 8])
const caches = [1, 2].map((agentId) => ({ agentId, hidden: null, groups }))
/** The last one is of a group that is not asked for. */
const names = [
  ...figureCounters.slice(0, 5),
  ...[7, 8, 9].map((group) => `GROUP.${group}.status_5xx`),
]

void t.test('new steps are joined to the known ones', async (t) => {
  const events = { wrote: () => undefined, warn: () => undefined }
  const archive = new LocalArchive(await openRows('sqlite::memory:'), planArchive(stepMs), events)
  t.teardown(() => archive.close())
  const begin = Math.floor(Date.now() / 1_680_000) * 1_680_000 - 2 * hourMs
  const record = (from: number, to: number): void => {
    for (let at = from + stepMs; at <= to; at += stepMs)
      for (const { agentId } of caches)
        archive.record({
          agentId,
          at,
          spanMs: stepMs,
          names,
          values: [(at - begin) / stepMs, 1, 1, 0, 0, 3, 4, 100],
        })
  }
  const read = (nowMs: number, known?: Awaited<ReturnType<typeof readHourSeries>>) =>
    readHourSeries(archive, { caches, nowMs, known })

  record(begin, begin + hourMs)
  const first = await read(begin + hourMs)
  record(begin + hourMs, begin + hourMs + 160_000)
  const joined = await read(begin + hourMs + 160_000, first)
  const whole = await read(begin + hourMs + 160_000)

  t.ok(first.steps.length > 30, `${first.steps.length} steps`)
  t.same(joined.steps, whole.steps)
  t.equal(whole.steps.at(-1)?.rates[5], 14, 'errors of both groups on both caches')
  t.ok((joined.steps.at(-1)?.endsAt ?? 0) > (first.steps.at(-1)?.endsAt ?? 0))
  const other = await readHourSeries(archive, {
    caches: caches.slice(1),
    nowMs: begin + hourMs,
    known: joined,
  })
  const [halved, sum] = [other.steps.at(-1), first.steps.at(-1)]
  t.equal(halved?.rates[0], (sum?.rates[0] ?? 0) / 2, 'for other caches everything is read anew')
})

void t.test('a later step replaces one of the same time; old steps are dropped', (t) => {
  const step = (endsAt: number, requests: number) => {
    const rates = emptyRates()
    rates[0] = requests
    return { endsAt, rates }
  }
  const joined = joinSteps([step(1, 1), step(2, 2), step(3, 3)], [step(4, 4), step(3, 30)], 2)
  t.same(
    joined.map(({ endsAt, rates }) => [endsAt, rates[0]]),
    [
      [2, 2],
      [3, 30],
      [4, 4],
    ],
  )
  t.end()
})
