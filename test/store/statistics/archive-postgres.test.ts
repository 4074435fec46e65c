/** The archive in PostgreSQL, and two coordinators that have one. */
import t from 'tap'
import { startPostgres } from '../../support/postgres.js'
import { openArchive, read, record, show, testArchive } from './archive.contract.js'

const server = await startPostgres(t)

void t.test('the archive in PostgreSQL', async (t) => {
  await testArchive(t, () => server.url())
})

void t.test('who does not have the cache any more writes nothing of it', async (t) => {
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
  t.equal((await read(now, [8], { steps: 8 })).values.length, 4, 'of the others it does')
  await late.close()
  await now.close()
})

void t.test('two that open an empty database at once both find the tables', async (t) => {
  const url = await server.url()
  const archives = await Promise.all([1, 2, 3].map(() => openArchive(url)))
  await Promise.all(archives.map((archive) => archive.close()))
  t.pass()
})

void t.test('samples wait while the server is away, and are written when it is back', async (t) => {
  const archive = await openArchive(await server.url())
  await record(archive, 7, { from: 0, to: 2 })
  await archive.commit()
  await server.stop()
  await record(archive, 7, { from: 2, to: 4 })
  await archive.commit()
  await t.rejects(read(archive, [7], { steps: 4 }), {
    kind: 'unavailable',
    message: /^the statistics cannot be used: /,
  })
  t.same(archive.warnings, ['statistics cannot be written'])
  await server.start()
  await archive.commit()
  t.equal((await read(archive, [7], { steps: 4 })).values.length, 4)
  await archive.close()
})
