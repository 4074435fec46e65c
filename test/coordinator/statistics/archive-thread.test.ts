/** The archive in its thread: batches sent, answers received, and what happens when the thread cannot work. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { planArchive } from '../../../src/coordinator/statistics/store/local-archive.js'
import { createSamplePacker } from '../../../src/coordinator/statistics/store/sample-packer.js'
import { batchMs, startArchive } from '../../../src/coordinator/statistics/store/start-archive.js'
import type { StatisticsArchive } from '../../../src/coordinator/statistics/store/statistics-archive.js'
import { eventually } from '../../support/eventually.js'
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
    thread: pathToFileURL(join(root, 'dist/src/coordinator/statistics/store/archive-thread.js')),
  })
  return { archive, warnings, commits }
}

function record(archive: StatisticsArchive, agentId: number, list: readonly string[]): void {
  for (let step = 1; step <= 3; step++)
    archive.record({
      agentId,
      at: begin + step * stepMs,
      spanMs: stepMs,
      names: list,
      values: list.map((_, column) => (column === 1 ? null : agentId * step)),
    })
}

async function read(archive: StatisticsArchive, agentId: number, name: string): Promise<number[]> {
  const nowMs = begin + 3 * stepMs
  const { series } = await archive.readSeries({
    caches: [{ agentId, hidden: null }],
    names: [name],
    consolidation: 'AVERAGE',
    startMs: begin,
    endMs: nowMs,
    nowMs,
  })
  return [...(series[0]?.values ?? [])]
}

async function startIn(t: Test): Promise<Started & { readonly url: string }> {
  const url = `sqlite:${join(t.testdir(), 'statistics.db')}`
  return { ...(await start(url)), url }
}

void t.test('caches with different counters are recorded together and read back', async (t) => {
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
  t.equal(await again.archive.retain([2], begin), 2)
  const newest = await again.archive.readNewest({
    caches: [{ agentId: 2, hidden: null }],
    nowMs: begin + 3 * stepMs,
  })
  t.same(newest.values, [['MAIN.cache_hit', 6]])
  await again.archive.close()
  t.same(again.warnings, [])
})

void t.test('an archive that cannot be opened is reported, and opened once ready', async (t) => {
  const path = join(t.testdir({ 'statistics.db': 'no database' }), 'statistics.db')
  const { archive, warnings } = await start(`sqlite:${path}`)
  const reason = /^there are no statistics: the statistics cannot be used: .* not a database$/
  await t.rejects(read(archive, 1, 'MAIN.cache_hit'), { kind: 'unavailable', message: reason })
  record(archive, 1, names)
  await rm(path)
  const values = await eventually('it answers', () => read(archive, 1, 'MAIN.cache_hit'))
  t.same(values, [1, 2, 3], 'samples were kept')
  await archive.close()
  t.same(new Set(warnings), new Set(['the archive cannot be started; trying on']))
})

void t.test('a closed archive refuses reads and ignores samples', async (t) => {
  const { archive, warnings } = await startIn(t)
  await archive.close()
  record(archive, 1, names)
  archive.release(1)
  await t.rejects(read(archive, 1, 'MAIN.cache_hit'), { message: /^there are no statistics/ })
  t.same(warnings, [])
})

void t.test('a kill loses at most 20 s: until the sample, in the batch, until its commit', (t) => {
  // docs/behaviour.md, Statistics: for the usual interval; with a longer one nothing is known between its samples.
  for (let stepMs = 1_000; stepMs <= 60_000; stepMs += 1_000) {
    const { commitEveryMs } = planArchive(stepMs)
    t.ok(batchMs + commitEveryMs + Math.min(stepMs, 10_000) <= 20_000, `${stepMs}`)
  }
  t.end()
})

void t.test('lists of names are numbered once, and anew when there are too many', (t) => {
  const packer = createSamplePacker()
  const sample = (list: readonly string[]) => ({
    agentId: 1,
    at: 1,
    spanMs: null,
    names: list,
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
