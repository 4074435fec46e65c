/** The archive in a SQLite file. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { openRows } from '../../../src/store/statistics/open-rows.js'
import { openArchive, record, testArchive } from './archive.contract.js'

void t.test('the archive in a SQLite file', async (t) => {
  let count = 0
  const folder = t.testdir()
  await testArchive(t, () => Promise.resolve(`sqlite:${join(folder, `${++count}.db`)}`))
})

void t.test('the file is readable by its owner only, and bounded', async (t) => {
  const path = join(t.testdir(), 'statistics.db')
  const archive = await openArchive(`sqlite:${path}`)
  t.equal((await stat(path)).mode & 0o777, 0o600)
  await record(archive, 1, { from: 0, to: 3000 })
  await archive.commit()
  const held = (await stat(path)).size
  await record(archive, 1, { from: 3000, to: 4200 })
  await archive.close()
  const grown = (await stat(path)).size
  t.ok(grown < 16 * 600 * 400, `two series take ${held}, then ${grown} bytes`)
})

void t.test('a file that cannot be opened is said, and is no crash', async (t) => {
  await t.rejects(openRows(`sqlite:${t.testdir()}`), {
    kind: 'unavailable',
    message: /^the statistics cannot be used: /,
  })
})
