/** When the journal of a SQLite store is synced to disk, and what continues meanwhile. */
import { mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { open as openFile, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { openStore } from '../../../src/coordinator/store/open-store.js'
import { eventually } from '../../support/eventually.js'
import { addTag } from './rows.js'

void t.test(
  'a transaction is on disk before it is answered or read, and blocks nothing else meanwhile',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'cachefleet-sqlite-'))
    symlinkSync(folder, `${folder}-link`)
    t.teardown(() => {
      rmSync(`${folder}-link`)
      rmSync(folder, { recursive: true })
    })
    const url = `sqlite:${folder}-link/coordinator.db`
    const store = await openStore(url, pino({ level: 'silent' }))
    t.teardown(() => store.close())
    const disk = await holdSyncs(t, folder)
    const answered: string[] = []
    const add = async (name: string, durable: boolean): Promise<void> => {
      await store.transaction((inside) => addTag(inside, name), { durable })
      answered.push(name)
    }

    await add('told again', false)
    t.equal(disk.syncs(), 0)
    const first = add('first', true)
    await disk.untilSyncs(1)
    const read = store.queries.selectFrom('tags').select('name').execute()
    const second = add('second', true)
    await new Promise((resume) => setTimeout(resume, 20))
    t.strictSame(answered, ['told again'], 'the sync is pending, and timers run')
    disk.release()
    await Promise.all([first, second])
    t.strictSame(answered, ['told again', 'first', 'second'])
    t.equal((await read).length, 2, 'what it read was on disk')
    t.equal(disk.syncs(), 2)

    t.notOk(await store.isUsedElsewhere())
    await add('of the new journal', true)
    t.equal(disk.syncs(), 3)
    t.ok(disk.isOfJournal(), 'the journal of the file itself, though the path is a link')
    disk.fail(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }))
    await t.rejects(add('lost', true), { kind: 'unavailable', message: /does not work.*EIO/ })
  },
)

/** Holds the journal's real syncs until `release`. */
async function holdSyncs(t: Test, folder: string) {
  const journal = join(folder, 'coordinator.db-wal')
  const probe = await openFile(journal)
  const handles = Object.getPrototypeOf(probe) as Pick<FileHandle, 'datasync'>
  await probe.close()
  const { datasync } = handles
  let [syncs, isOfJournal] = [0, true]
  let failure: Error | undefined
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  handles.datasync = async function (this: FileHandle) {
    syncs += 1
    isOfJournal &&= (await this.stat()).ino === statSync(journal).ino
    await released
    if (failure) throw failure
    await datasync.call(this)
  }
  t.teardown(() => {
    handles.datasync = datasync
  })
  return {
    release,
    syncs: () => syncs,
    isOfJournal: () => isOfJournal,
    untilSyncs: (count: number) => eventually(`${count} syncs`, () => syncs >= count),
    fail: (error: Error) => {
      failure = error
    },
  }
}
