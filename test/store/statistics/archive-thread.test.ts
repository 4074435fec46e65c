/** The archive in its thread: batches over, answers back, and what happens when the thread cannot work. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { planArchive } from '../../../src/store/statistics/local-archive.js'
import { createSamplePacker } from '../../../src/store/statistics/sample-packer.js'
import { startArchive } from '../../../src/store/statistics/start-archive.js'
import type { StatisticsArchive } from '../../../src/store/statistics/statistics-archive.js'
import { root } from '../../support/root.js'
import { begin, names, stepMs } from './archive.contract.js'

interface Started {
  readonly archive: StatisticsArchive
  readonly warnings: string[]
  readonly commits: number[]
}

async function start(url: string): Promise<Started> {
  const warnings: string[] = []
  const commits: number[] = []
  const archive = await startArchive({
    url,
    options: { ...planArchive(stepMs), commitEveryMs: 3_600_000 },
    events: {
      wrote: (_, rows) => commits.push(rows),
      warn: (_, message) => warnings.push(message),
    },
    thread: pathToFileURL(join(root, 'dist/src/store/statistics/archive-thread.js')),
  })
  return { archive, warnings, commits }
}

function record(archive: StatisticsArchive, agentId: number, list: readonly string[]): void {
  for (let step = 1; step <= 3; step++)
    archive.record({
      ...{ agentId, at: begin + step * stepMs, spanMs: stepMs, names: list },
      values: list.map((_, column) => (column === 1 ? null : agentId * step)),
    })
}

async function read(archive: StatisticsArchive, agentId: number, name: string): Promise<number[]> {
  const nowMs = begin + 3 * stepMs
  const { series } = await archive.readSeries({
    caches: [{ agentId, hidden: null }],
    names: [name],
    ...{ consolidation: 'AVERAGE', startMs: begin, endMs: nowMs, nowMs },
  })
  return [...(series[0]?.values ?? [])]
}

async function startIn(t: Test): Promise<Started & { readonly url: string }> {
  const url = `sqlite:${join(t.testdir(), 'statistics.db')}`
  return { ...(await start(url)), url }
}

void t.test('caches with other counters go over side by side, and are there again', async (t) => {
  const { archive, commits, url } = await startIn(t)
  record(archive, 1, names)
  record(archive, 2, [...names])
  record(archive, 3, ['VBE.pool.conn', 'MAIN.threads', 'MAIN.cache_hit'])

  t.same(await read(archive, 1, 'MAIN.cache_hit'), [1, 2, 3])
  t.same(await read(archive, 3, 'MAIN.cache_hit'), [3, 6, 9])
  t.same(await read(archive, 3, 'MAIN.threads'), [], 'null is a gap')
  await archive.commit()
  t.equal(commits.length, 1)
  archive.release(1)
  await archive.close()

  const again = await start(url)
  t.same(await read(again.archive, 2, 'MAIN.cache_hit'), [2, 4, 6])
  t.equal(await again.archive.retain([2]), 2)
  const newest = await again.archive.readNewest({
    caches: [{ agentId: 2, hidden: null }],
    nowMs: begin + 3 * stepMs,
  })
  t.same(newest.values, [['MAIN.cache_hit', 6]])
  await again.archive.close()
  t.same(again.warnings, [])
})

void t.test('an archive that cannot be opened is said', async (t) => {
  await t.rejects(start(`sqlite:${t.testdir()}`), {
    message: /^there are no statistics: the statistics cannot be used: /,
  })
})

void t.test('after its end it answers no more, and takes no harm', async (t) => {
  const { archive, warnings } = await startIn(t)
  await archive.close()
  record(archive, 1, names)
  archive.release(1)
  await t.rejects(read(archive, 1, 'MAIN.cache_hit'), { message: /^there are no statistics/ })
  t.same(warnings, [])
})

void t.test('lists of names are numbered once, and anew when there are too many', (t) => {
  const packer = createSamplePacker()
  const sample = (list: readonly string[]) => ({
    ...{ agentId: 1, at: 1, spanMs: null, names: list },
    values: list.map(() => 1),
  })
  t.same(packer.pack([sample(['a']), sample(['a']), sample(['b'])]).names, [['a'], ['b']])
  t.same(packer.pack([sample(['b']), sample(['c'])]).names, [['c']])
  packer.pack(Array.from({ length: 1000 }, (_, at) => sample([String(at)])))
  const anew = packer.pack([sample(['b'])])
  t.equal(anew.isAnew, true)
  t.same(anew.names, [['b']])
  t.end()
})
