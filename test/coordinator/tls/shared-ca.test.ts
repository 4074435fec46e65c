/** Coordinators of one PostgreSQL store have one CA, whichever starts first. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { rotateSecretKey } from '../../../src/coordinator/identity/rotate-secret-key.js'
import { forgetSealedTexts } from '../../../src/coordinator/identity/sealed-texts.js'
import { openSealing } from '../../../src/coordinator/identity/sealing.js'
import { openStore } from '../../../src/coordinator/store/open-store.js'
import { openCa } from '../../../src/coordinator/tls/own-ca.js'
import { makeStateDir } from '../../support/daemon.js'
import { startPostgres } from '../../support/postgres.js'
import { log } from './running.js'

void t.test('several coordinators', async (t) => {
  const server = await startPostgres(t)
  const openPair = async (t: Test) => {
    const url = await server.url()
    const keyFile = join(await makeStateDir(t), 'secret.key')
    const open = async () => {
      const store = await openStore(url, log)
      t.teardown(() => store.close())
      return { store, sealing: await openSealing(store, keyFile) }
    }
    return { keyFile, one: await open(), two: await open() }
  }
  const now = Date.now()

  await t.test('starting at once they agree on one CA, each has it in its state dir', async (t) => {
    const { one, two } = await openPair(t)
    const folders = await Promise.all([makeStateDir(t), makeStateDir(t)])
    const [first, second] = await Promise.all([
      openCa(folders[0], one, now),
      openCa(folders[1], two, now),
    ])
    t.same(first, second)
    for (const folder of folders) {
      t.equal(await readFile(join(folder, 'ca.pem'), 'utf8'), first.key + first.certificate)
      t.equal((await stat(join(folder, 'ca.pem'))).mode & 0o777, 0o600)
    }
    t.same(await openCa(await makeStateDir(t), one, now), first, 'a third gets it too')
  })

  await t.test('they keep the CA that one had before, and set another aside', async (t) => {
    const { one, two } = await openPair(t)
    const [mine, other] = await Promise.all([makeStateDir(t), makeStateDir(t)])
    const alone = await openCa(mine, null, now)
    const left = await openCa(other, null, now)
    t.same(await openCa(mine, one, now), alone)
    t.same(await openCa(other, two, now), alone)
    t.equal(await readFile(join(other, 'ca.pem.before'), 'utf8'), left.key + left.certificate)
  })

  await t.test('they keep the CA when the secret key is replaced or lost', async (t) => {
    const { one, two, keyFile } = await openPair(t)
    const folder = await makeStateDir(t)
    const ca = await openCa(folder, one, now)
    await rotateSecretKey(one.store, keyFile)
    t.same(await openCa(await makeStateDir(t), two, now), ca)
    await one.store.decide((queries) => forgetSealedTexts(queries, now))
    const again = { store: two.store, sealing: await openSealing(two.store, keyFile) }
    t.same(await openCa(folder, again, now), ca, 'sealed again from the state dir')
    t.same(await openCa(await makeStateDir(t), again, now), ca)
  })

  await t.test('the store holds no readable key', async (t) => {
    const { one } = await openPair(t)
    const { key } = await openCa(await makeStateDir(t), one, now)
    const rows = await one.store.queries.selectFrom('settings').selectAll().execute()
    t.ok(rows.some(({ name }) => name === 'sealedCoordinatorCa'))
    t.notOk(JSON.stringify(rows).includes(key.split('\n')[1] ?? '-'))
  })
})
