/** The archive in a SQLite file. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { maxArchives, stepsPerRow } from '../../../src/coordinator/statistics/archive/archives.js'
import { defaultCounters } from '../../../src/resources/counters.js'
import { openRows } from '../../../src/coordinator/statistics/store/open-rows.js'
import { testBounds } from './archive-bounds.contract.js'
import { openArchive, record, testArchive } from './archive.contract.js'

void t.test('the archive in a SQLite file', async (t) => {
  let count = 0
  const folder = t.testdir()
  const makeUrl = (): Promise<string> => Promise.resolve(`sqlite:${join(folder, `${++count}.db`)}`)
  await testArchive(t, makeUrl)
  await testBounds(t, makeUrl)
})

void t.test(
  'the file is readable by its owner only and has the size given in docs/statistics.md',
  async (t) => {
    const path = join(t.testdir(), 'statistics.db')
    const list = defaultCounters.slice(0, 40).map(({ name }) => name)
    const rows = 10
    const full = rows * Math.max(...stepsPerRow)
    const fill = async (from: number, to: number): Promise<number> => {
      const archive = await openArchive(`sqlite:${path}`, { rows })
      t.equal((await stat(path)).mode & 0o777, 0o600)
      await record(archive, 1, { from, to, list })
      await archive.close()
      return (await stat(path)).size
    }
    const held = await fill(0, full)
    const formula = list.length * maxArchives * rows * 20
    t.ok(held > formula, 'it is full')
    // A quarter more for pages, and a constant part that counts with so few rows.
    t.ok(held < 1.25 * formula + (128 << 10), `${held} bytes, by the formula ${formula}`)
    t.equal(await fill(full, full + 1000), held, 'it does not grow further')
  },
)

void t.test('a file that cannot be opened is an error, not a crash', async (t) => {
  await t.rejects(openRows(`sqlite:${t.testdir()}`), {
    kind: 'unavailable',
    message: /^the statistics cannot be used: /,
  })
})
