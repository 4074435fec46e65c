/** An archive whose thread dies restarts by itself, with all that was committed. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { planArchive } from '../../../src/coordinator/statistics/store/local-archive.js'
import { startArchive } from '../../../src/coordinator/statistics/store/start-archive.js'
import type { StatisticsArchive } from '../../../src/coordinator/statistics/store/statistics-archive.js'
import { eventually } from '../../support/eventually.js'
import { root } from '../../support/root.js'
import { begin, names, stepMs } from './archive.contract.js'

/** archive-thread-that-dies.mjs dies when this agent is released. */
const deadly = 666

async function start(t: Test): Promise<{ archive: StatisticsArchive; warnings: string[] }> {
  const warnings: string[] = []
  const archive = await startArchive({
    url: `sqlite:${join(t.testdir(), 'statistics.db')}`,
    options: { ...planArchive(stepMs), commitEveryMs: 3_600_000 },
    events: {
      wrote: () => undefined,
      warn: (_, message) => warnings.push(message),
    },
    thread: pathToFileURL(join(root, 'test/coordinator/statistics/archive-thread-that-dies.mjs')),
  })
  return { archive, warnings }
}

function record(archive: StatisticsArchive, step: number): void {
  const sample = { agentId: 1, at: begin + step * stepMs, spanMs: stepMs, names }
  archive.record({ ...sample, values: [step, step] })
}

async function read(archive: StatisticsArchive): Promise<number[]> {
  const nowMs = begin + 10 * stepMs
  const { series } = await archive.readSeries({
    caches: [{ agentId: 1, hidden: null }],
    names: ['MAIN.cache_hit'],
    consolidation: 'AVERAGE',
    startMs: begin,
    endMs: nowMs,
    nowMs,
  })
  return [...(series[0]?.values ?? [])]
}

void t.test('a thread that dies is replaced, and samples wait for the next one', async (t) => {
  const { archive, warnings } = await start(t)
  record(archive, 1)
  record(archive, 2)
  await archive.commit()
  archive.release(deadly)
  await t.rejects(read(archive), { kind: 'unavailable', message: /^there are no statistics: / })
  record(archive, 3)

  const values = await eventually('it answers again', () => read(archive))
  t.same(values, [1, 2, 3])
  t.same(warnings, ['the archive ended; it is started again'])

  archive.release(deadly)
  await t.rejects(archive.commit(), { message: 'there are no statistics: its thread ended' })
  record(archive, 4)
  const again = await eventually('it answers once more', () => read(archive))
  t.same(again, [1, 2, 4], 'uncommitted samples are a gap')
  await archive.close()
  t.equal(warnings.length, 2)
})

void t.test('the archive can be closed while it has no thread', async (t) => {
  const { archive, warnings } = await start(t)
  archive.release(deadly)
  await t.rejects(read(archive))
  await archive.close()
  await t.rejects(read(archive), { message: /^there are no statistics: / })
  t.equal(warnings[0], 'the archive ended; it is started again')
})
