/** The size limits of the archive, and what a kill loses, on both databases. */
import type { Test } from 'tap'
import { spanOf } from '../../../src/coordinator/statistics/archive/archives.js'
import { planArchive } from '../../../src/coordinator/statistics/store/local-archive.js'
import { begin, names, openArchive, read, record, show, stepMs } from './archive.contract.js'

const plan = planArchive(stepMs)
/** The coarsest archive is overwritten after this time. */
const longestMs = plan.rows * spanOf(plan, plan.archives - 1)

export async function testBounds(t: Test, makeUrl: () => Promise<string>): Promise<void> {
  await t.test('a row that was open at a kill is finished by the next coordinator', async (t) => {
    const url = await makeUrl()
    const killed = await openArchive(url)
    const sample = { agentId: 7, names, values: [2, 3] }
    killed.record({ ...sample, at: begin + 1.5 * stepMs, spanMs: 1.5 * stepMs })
    await killed.commit()

    const next = await openArchive(url)
    next.record({ ...sample, at: begin + 2 * stepMs, spanMs: 0.5 * stepMs })
    t.same(show(await read(next, [7], { steps: 2, consolidation: 'TOTAL' })), [
      [1, 20],
      [2, 20],
    ])
    await next.close()
    await killed.close()
  })

  await t.test('an organization never takes the last tenth of all series', async (t) => {
    const archive = await openArchive(await makeUrl(), { maxSeries: 1000 })
    const many = Array.from({ length: 499 }, (_, at) => `VBE.b${at}.conn`)
    const isKept = async (agentId: number, at: number) =>
      (await read(archive, [agentId], { steps: 2, names: [`VBE.b${at}.conn`] })).isKnown
    for (const agentId of [1, 2])
      await record(archive, agentId, { from: 0, to: 2, list: many, organizationId: 7 })
    t.same([await isKept(1, 498), await isKept(2, 400), await isKept(2, 401)], [true, true, false])
    await record(archive, 3, { from: 0, to: 2, list: many, organizationId: 8 })
    t.same([await isKept(3, 49), await isKept(3, 50)], [true, false], 'a twentieth for another one')
    await record(archive, 4, { from: 0, to: 2, list: many })
    t.same(
      [await isKept(4, 49), await isKept(4, 50)],
      [true, false],
      'the administrator has the rest',
    )
    t.match(archive.warnings, [
      /organization holds its share/,
      /organization/,
      /all series .* taken/,
    ])
    await archive.close()
  })

  await t.test(
    'beyond a quarter of all series only counters begin new ones, up to the limit',
    async (t) => {
      const archive = await openArchive(await makeUrl(), { maxSeries: 1000 })
      const groups = Array.from({ length: 52 }, (_, at) => at)
      const listSeries = (name: string, length: number) =>
        Array.from({ length }, (_, at) => name.replace('*', String(at)))
      const countKept = async (agentId: number, list: readonly string[], steps: number) => {
        const endMs = begin + steps * stepMs
        const range = { consolidation: 'AVERAGE', startMs: begin, endMs, nowMs: endMs } as const
        const caches = [{ agentId, hidden: null, groups: new Set(groups) }]
        const { series } = await archive.readSeries({ ...range, caches, names: list })
        return series.filter(({ isKnown }) => isKnown).length
      }
      const domains = listSeries('DOMAIN.1:d*.example.requests', 300)
      const first = [...listSeries('VBE.b*.conn', 300), ...domains]
      await record(archive, 1, { from: 0, to: 2, list: first })
      const figures = listSeries('GROUP.*.requests', 50)
      const second = [...figures, ...listSeries('VBE.b*.conn', 100)]
      await record(archive, 2, { from: 0, to: 2, list: second })
      t.same(
        [
          await countKept(1, first, 2),
          await countKept(2, figures, 2),
          await countKept(2, second, 2),
        ],
        [600, 0, 100],
      )
      t.match(archive.warnings, [
        /^a quarter of the series .* figures of further groups and domains/,
      ])
      const third = listSeries('VBE.b*.conn', 400)
      await record(archive, 3, { from: 0, to: 2, list: third })
      t.equal(await countKept(3, third, 2), 300, 'a thousand in all')
      t.match(archive.warnings.slice(1), [/^all series .* taken/])
      await record(archive, 1, { from: 2, to: 4, list: [...first, 'GROUP.51.requests'] })
      t.equal(await countKept(1, domains, 4), 300, 'existing series continue')
      t.equal(await countKept(1, ['GROUP.51.requests'], 4), 0)
      t.equal(planArchive(stepMs).maxSeries, 500_000)
      await archive.close()
    },
  )

  await t.test('lists of series that no row can use any more are deleted', async (t) => {
    const archive = await openArchive(await makeUrl())
    const away = ['VBE.away.conn', ...names]
    await record(archive, 7, { from: 0, to: 2 })
    await record(archive, 9, { from: 0, to: 2, list: away })
    await archive.commit()
    archive.release(9)
    await record(archive, 7, { from: 2, to: 4, list: [...names, 'VBE.pool.conn'] })
    await archive.commit()
    await archive.retain([7, 9], begin)
    const ends = async (agentId: number): Promise<readonly number[]> =>
      show(await read(archive, [agentId], { steps: 4 })).map(([end]) => end)

    await archive.retain([7, 9], begin + longestMs)
    t.same(await ends(7), [1, 2, 3, 4], 'rows may still use them')
    await archive.retain([7, 9], begin + longestMs + 1)
    t.same(await ends(7), [3, 4], 'the current list of the cache is kept')
    t.same(await ends(9), [1, 2], 'also that of an absent cache')

    await record(archive, 8, { from: 2, to: 4 })
    await archive.commit()
    await archive.retain([7, 8, 9], begin + longestMs + 2)
    t.same(await ends(8), [3, 4], 'a list in use again is kept')
    await archive.close()
  })
}
