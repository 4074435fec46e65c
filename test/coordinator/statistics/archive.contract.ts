/** What the archive guarantees on both databases. */
import type { Test } from 'tap'
import {
  LocalArchive,
  planArchive,
  type ArchiveOptions,
} from '../../../src/coordinator/statistics/store/local-archive.js'
import { openRows } from '../../../src/coordinator/statistics/store/open-rows.js'
import type {
  Series,
  SeriesQuery,
} from '../../../src/coordinator/statistics/store/statistics-archive.js'

export const stepMs = 10_000
export const begin = Date.UTC(2026, 0, 1)
const hit = 'MAIN.cache_hit'
const threads = 'MAIN.threads'
export const names = [hit, threads]

interface OpenedArchive extends LocalArchive {
  readonly warnings: readonly string[]
}

/** Opens an archive that commits only on demand. */
export async function openArchive(
  url: string,
  given: Partial<Omit<ArchiveOptions, 'commitEveryMs'>> = {},
): Promise<OpenedArchive> {
  const warnings: string[] = []
  const options = { ...planArchive(stepMs), commitEveryMs: 3_600_000, ...given }
  const archive = new LocalArchive(await openRows(url), options, {
    wrote: () => undefined,
    warn: (_, message) => warnings.push(message),
  })
  return Object.assign(archive, { warnings })
}

interface RecordedSteps {
  readonly from: number
  readonly to: number
  readonly list?: readonly string[]
  readonly organizationId?: number | null
}

/** Records a sample for each step since `begin`, from `from` to before `to`. Of many samples, the earlier are committed. */
export async function record(
  archive: Pick<LocalArchive, 'record' | 'commit'>,
  agentId: number,
  { from, to, list = names, organizationId = null }: RecordedSteps,
): Promise<void> {
  for (let step = from; step < to; step++) {
    archive.record({
      agentId,
      organizationId,
      at: begin + (step + 1) * stepMs,
      spanMs: null,
      names: list,
      values: list.map((_, column) => step + column),
    })
    if ((step + 1 - from) % 300 === 0) await archive.commit()
  }
}

export async function read(
  archive: LocalArchive,
  agentIds: readonly number[],
  asked: Partial<SeriesQuery> & { readonly steps: number },
): Promise<Series> {
  const { steps, ...query } = asked
  const nowMs = begin + steps * stepMs
  const { series } = await archive.readSeries({
    caches: agentIds.map((agentId) => ({ agentId, hidden: null })),
    names: [hit],
    consolidation: 'AVERAGE',
    startMs: begin,
    endMs: nowMs,
    nowMs,
    ...query,
  })
  const [first] = series
  if (!first) throw new Error('no series')
  return first
}

/** Row ends, in steps since `begin`, and values. */
export function show({ endsAt, values }: Series): (readonly [number, number])[] {
  return [...endsAt].map((at, index) => [(at - begin) / stepMs, values[index] ?? Number.NaN])
}

export async function testArchive(t: Test, makeUrl: () => Promise<string>): Promise<void> {
  await t.test('samples can be read before and after their commit', async (t) => {
    const archive = await openArchive(await makeUrl())
    await record(archive, 7, { from: 0, to: 3 })
    const wanted = [
      [1, 0],
      [2, 1],
      [3, 2],
    ]
    t.same(show(await read(archive, [7], { steps: 3 })), wanted)
    await archive.commit()
    t.same(show(await read(archive, [7], { steps: 3 })), wanted)
    const endMs = begin + 100_000 * stepMs
    const beyond = await read(archive, [7], { steps: 3, endMs })
    t.same(show(beyond), wanted, 'no coarser when the range ends in the future')
    const other = await read(archive, [7], { steps: 3, names: ['MAIN.nothing'] })
    t.equal(other.isKnown, false)
    t.same(show(await read(archive, [8], { steps: 3 })), [], 'nothing of another cache')
    await archive.close()
  })

  await t.test('the newest values are known where samples arrive, and elsewhere', async (t) => {
    const url = await makeUrl()
    const here = await openArchive(url)
    for (const [agentId, steps] of [
      [7, 3],
      [8, 1],
    ] as const)
      await record(here, agentId, { from: 0, to: steps })
    const askAt = async (archive: LocalArchive, step: number) => {
      const caches = [9, 8, 7].map((agentId) => ({ agentId, hidden: null }))
      const nowMs = begin + step * stepMs
      const asked = { caches, names: [threads, 'MAIN.nothing'], nowMs }
      const { agentIds, endsAt, values } = await archive.readNewestEach(asked)
      return [[...agentIds], [...endsAt].map((at) => (at - begin) / stepMs), [...values]]
    }
    const wanted = [
      [8, 7],
      [1, 3],
      [1, NaN, 3, NaN],
    ]
    t.same(await askAt(here, 3), wanted)
    await here.commit()
    t.same(await askAt(here, 3), wanted)
    const elsewhere = await openArchive(url)
    t.same(await askAt(elsewhere, 3), wanted)
    for (const archive of [here, elsewhere])
      t.same(await askAt(archive, 6), [[7], [3], [3, NaN]], 'one has sent nothing for long')
    await here.close()
    await elsewhere.close()
  })

  await t.test('a killed coordinator loses only what it had not committed', async (t) => {
    const url = await makeUrl()
    const killed = await openArchive(url)
    await record(killed, 7, { from: 0, to: 700 })
    await killed.commit()
    await record(killed, 7, { from: 700, to: 702 })
    const whole = await openArchive(url) // which claims the cache
    await record(whole, 7, { from: 702, to: 1000 })
    await whole.commit()
    await killed.close() // its remaining writes come too late, or are the same

    const coarse = await read(whole, [7], { steps: 1000, consolidation: 'TOTAL' })
    for (const [end, total] of show(coarse)) {
      // F = 2: the mean of its two steps times its seconds; known for less time where samples were lost.
      const exact = (end - 1 + (end - 2)) * 10
      if (end === 702) t.ok(total <= exact)
      else t.equal(total, exact, `row that ends with step ${end}`)
    }
    t.ok(coarse.endsAt.length > 490)
    await whole.close()
  })

  await t.test('coarse rows continue across many restarts as if there were none', async (t) => {
    const [url, unbrokenUrl] = [await makeUrl(), await makeUrl()]
    const unbroken = await openArchive(unbrokenUrl)
    await record(unbroken, 3, { from: 0, to: 2000 })
    for (let step = 0; step < 2000; step += 125) {
      const archive = await openArchive(url)
      await record(archive, 3, { from: step, to: step + 60 })
      await archive.commit()
      await record(archive, 3, { from: step + 60, to: step + 125 })
      await archive.close()
    }
    const archive = await openArchive(url)
    for (const startMs of [begin + 1500 * stepMs, begin + 900 * stepMs, begin, begin - 9e8])
      for (const consolidation of ['AVERAGE', 'MIN', 'MAX', 'LAST', 'TOTAL'] as const) {
        const asked = { steps: 2000, startMs, consolidation }
        t.same(
          show(await read(archive, [3], asked)),
          show(await read(unbroken, [3], asked)),
          `${consolidation} since ${startMs}`,
        )
      }
    await archive.close()
    await unbroken.close()
  })

  await t.test('with fewer archives the coarsest answers; more start empty', async (t) => {
    const url = await makeUrl()
    const all = await openArchive(url)
    await record(all, 7, { from: 0, to: 20 })
    await all.close()

    const few = await openArchive(url, { archives: 2 })
    await record(few, 7, { from: 20, to: 30 })
    const long = { steps: 30, startMs: begin - 9e9 }
    t.same(
      (await read(few, [7], long)).endsAt,
      Float64Array.from({ length: 15 }, (_, row) => begin + 2 * (row + 1) * stepMs),
    )
    t.equal(await few.retain([7], begin), 0, 'no agent is gone')
    await few.close()

    const again = await openArchive(url)
    await record(again, 7, { from: 30, to: 60 })
    const coarse = { steps: 60, startMs: begin - 2000 * stepMs, consolidation: 'TOTAL' } as const
    t.same(
      show(await read(again, [7], coarse)).filter(([end]) => end % 5 === 0),
      [35, 40, 45, 50, 55, 60].map((end) => [end, (5 * end - 15) * 10]),
      'rows of five steps only since the change',
    )
    await again.close()
  })

  await t.test('the oldest rows make room for the newest, and nothing else grows', async (t) => {
    const archive = await openArchive(await makeUrl())
    await record(archive, 7, { from: 0, to: 1500 })
    await archive.commit()
    const fine = await read(archive, [7], { steps: 1500, startMs: begin + 901 * stepMs })
    t.equal(fine.endsAt.length, 600)
    t.equal(show(fine)[0]?.[0], 901)
    await archive.close()
  })

  await t.test('several caches are summed, and a late one causes no dip', async (t) => {
    const archive = await openArchive(await makeUrl())
    await record(archive, 1, { from: 0, to: 5 })
    await record(archive, 2, { from: 2, to: 4 })
    t.same(show(await read(archive, [1, 2], { steps: 5 })), [
      [1, 0],
      [2, 1],
      [3, 4],
      [4, 6],
    ])
    const later = await read(archive, [1, 2], { steps: 9 })
    t.same(show(later).at(-1), [5, 4], 'an absent cache is not waited for')
    const newest = await archive.readNewest({
      caches: [
        { agentId: 1, hidden: null },
        { agentId: 2, hidden: 'MAIN.t' },
      ],
      nowMs: begin + 5 * stepMs,
    })
    t.same(newest, {
      endsAt: begin + 5 * stepMs,
      caches: 2,
      values: [
        [hit, 7],
        [threads, 5],
      ],
    })
    await archive.close()
  })

  await t.test('series come and go without disturbing the others', async (t) => {
    const archive = await openArchive(await makeUrl())
    await record(archive, 7, { from: 0, to: 2 })
    await archive.commit()
    await record(archive, 7, { from: 2, to: 4, list: ['VBE.pool.conn', hit] })
    await archive.commit()
    await record(archive, 7, { from: 4, to: 6, list: [threads] })
    await archive.commit()
    t.same(show(await read(archive, [7], { steps: 6 })), [
      [1, 0],
      [2, 1],
      [3, 3],
      [4, 4],
    ])
    const pool = await read(archive, [7], { steps: 6, names: ['VBE.pool.conn'] })
    t.same(show(pool), [
      [3, 2],
      [4, 3],
    ])
    const hidden = await archive.readSeries({
      caches: [{ agentId: 7, hidden: 'VBE.' }],
      names: ['VBE.pool.conn'],
      consolidation: 'LAST',
      startMs: begin,
      endMs: begin + 60_000,
      nowMs: begin + 60_000,
    })
    t.equal(hidden.series[0]?.isKnown, false)
    t.equal(hidden.series[0]?.values.length, 0)
    await archive.close()
  })

  await t.test(
    'a cache that sends too many series keeps 4,000, and others their share',
    async (t) => {
      const archive = await openArchive(await makeUrl(), { maxSeries: 4_200 })
      const many = Array.from({ length: 5000 }, (_, at) => `VBE.b${at}.conn`)
      await record(archive, 1, { from: 0, to: 2, list: many })
      await record(archive, 2, { from: 0, to: 2, list: many })
      const read3999 = await read(archive, [1], { steps: 2, names: ['VBE.b3999.conn'] })
      t.equal(read3999.isKnown, true)
      t.equal((await read(archive, [1], { steps: 2, names: ['VBE.b4000.conn'] })).isKnown, false)
      t.equal((await read(archive, [2], { steps: 2, names: ['VBE.b199.conn'] })).isKnown, true)
      t.equal((await read(archive, [2], { steps: 2, names: ['VBE.b200.conn'] })).isKnown, false)
      // On another day the series that are no longer sent make room.
      await record(archive, 1, { from: 9000, to: 9002, list: names })
      t.equal((await read(archive, [1], { steps: 9002 })).isKnown, true)
      t.match(archive.warnings, ['a cache has more counters than are kept', /^all series .* taken/])
      await archive.close()
    },
  )

  await t.test('rows of deleted agents are removed', async (t) => {
    const archive = await openArchive(await makeUrl())
    for (const agentId of [1, 2, 3]) await record(archive, agentId, { from: 0, to: 3 })
    await archive.commit()
    t.equal(await archive.retain([2, 9], begin), 2)
    t.same(show(await read(archive, [1, 3], { steps: 3 })), [])
    t.equal((await read(archive, [2], { steps: 3 })).values.length, 3)
    t.equal(await archive.retain([2], begin), 0)
    await archive.close()
  })

  await t.test('another interval begins anew and does not disturb earlier rows', async (t) => {
    const url = await makeUrl()
    const before = await openArchive(url)
    await record(before, 7, { from: 0, to: 12 })
    await before.close()
    const after = await openArchive(url, { stepMs: 5_000 })
    for (let at = 1; at <= 3; at++)
      after.record({
        agentId: 7,
        at: begin + 120_000 + at * 5_000,
        spanMs: null,
        names,
        values: [at, at],
      })
    t.same(show(await read(after, [7], { steps: 15 })), [
      [12.5, 1],
      [13, 2],
      [13.5, 3],
    ])
    await after.close()
    const back = await openArchive(url)
    t.same(show(await read(back, [7], { steps: 15 })).at(-1), [12, 11])
    await back.close()
  })
}
