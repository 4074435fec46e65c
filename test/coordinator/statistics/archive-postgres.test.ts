/** The archive in PostgreSQL, and two coordinators that share it. */
import t from 'tap'
import { startPostgres } from '../../support/postgres.js'
import { testBounds } from './archive-bounds.contract.js'
import { openArchive, read, record, show, testArchive } from './archive.contract.js'

const server = await startPostgres(t)

void t.test('the archive in PostgreSQL', async (t) => {
  await testArchive(t, () => server.url())
  await testBounds(t, () => server.url())
})

void t.test('a coordinator that no longer has the cache writes nothing of it', async (t) => {
  const url = await server.url()
  const [late, now] = await Promise.all([openArchive(url), openArchive(url)])
  await record(late, 7, { from: 0, to: 2 })
  await record(late, 8, { from: 0, to: 2 })
  await late.commit()
  await record(late, 7, { from: 2, to: 4 })
  await record(late, 8, { from: 2, to: 4 })
  await record(now, 7, { from: 5, to: 8 })
  await now.commit()
  await late.commit()

  t.same(show(await read(now, [7], { steps: 8 })), [
    [1, 0],
    [2, 1],
    [6, 5],
    [7, 6],
    [8, 7],
  ])
  t.equal((await read(now, [8], { steps: 8 })).values.length, 4, 'other caches are still written')
  await late.close()
  await now.close()
})

void t.test('a cache that returns from another coordinator is written again', async (t) => {
  const url = await server.url()
  const [one, two] = await Promise.all([openArchive(url), openArchive(url)])
  const take = async (archive: typeof one, from: number): Promise<void> => {
    await record(archive, 7, { from, to: from + 2 })
    // The link ends before the samples are committed.
    archive.release(7)
  }
  await take(one, 0)
  await one.commit()
  await take(two, 3)
  await two.commit()
  await take(one, 6)
  await one.commit()
  await take(one, 9)
  await read(one, [7], { steps: 11 }) // which has taken them
  await take(two, 12)
  await two.commit()
  // Samples that waited when the other coordinator claimed the cache came too late.
  await take(one, 15)
  await one.commit()

  t.same(
    show(await read(two, [7], { steps: 20 })).map(([end]) => end),
    [1, 2, 4, 5, 7, 8, 13, 14, 16, 17],
  )
  await Promise.all([one.close(), two.close()])
})

void t.test('coordinators that open an empty database at once all find the tables', async (t) => {
  const url = await server.url()
  const archives = await Promise.all([1, 2, 3].map(() => openArchive(url)))
  await Promise.all(archives.map((archive) => archive.close()))
  t.pass()
})

void t.test('samples wait while the server is down and are written when it is back', async (t) => {
  const archive = await openArchive(await server.url())
  // Twenty rows of two series.
  const small = await openArchive(await server.url(), { maxUnwritten: 40 })
  await record(archive, 7, { from: 0, to: 2 })
  await record(small, 7, { from: 0, to: 2 })
  await archive.commit()
  await small.commit()
  await server.stop()
  await record(archive, 7, { from: 2, to: 4 })
  await record(small, 7, { from: 2, to: 100 })
  await archive.commit()
  await t.rejects(read(archive, [7], { steps: 4 }), {
    kind: 'unavailable',
    message: /^the statistics cannot be used: /,
  })
  t.same(archive.warnings, ['statistics cannot be written'])
  await server.start()
  await archive.commit()
  t.equal((await read(archive, [7], { steps: 4 })).values.length, 4)
  const ends = show(await read(small, [7], { steps: 100 })).map(([end]) => end)
  t.same(ends.slice(0, 2), [1, 2])
  t.ok(ends.length > 5 && ends.length <= 22, 'over the limit the oldest are lost')
  t.equal(ends.at(-1), 100)
  await archive.close()
  await small.close()
})
