/** The secret key: rotated while coordinators run, interrupted on the way, lost, and reset. */
import { watch } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { openProvider } from '../../../src/coordinator/identity/provider-secret.js'
import {
  resetSecrets,
  rotateSecretKey,
} from '../../../src/coordinator/identity/rotate-secret-key.js'
import { openSealing } from '../../../src/coordinator/identity/sealing.js'
import {
  formatSecretKey,
  makeSecretKey,
  openText,
  parseSecretKey,
  type SecretKey,
} from '../../../src/coordinator/identity/secret-key.js'
import { idpReading } from '../../../src/coordinator/identity/idp-queries.js'
import { openStore } from '../../../src/coordinator/store/open-store.js'
import { listSealedTexts, sealedPurposes } from '../../../src/coordinator/identity/sealed-texts.js'
import { deleteSetting } from '../../../src/coordinator/store/settings.js'
import type { Store } from '../../../src/coordinator/store/store.js'
import { makeStateDir, startDaemon } from '../../support/daemon.js'
import { startPostgres } from '../../support/postgres.js'
import type { Controller } from '../../support/start-controller.js'
import { idOf, startTenants, type Tenants } from './people.js'

const provider = { baseURL: 'https://idp.example', clientID: 'fleet' }

/** Nothing listens at this address. */
const webhook = { name: 'pager', url: 'http://127.0.0.1:1/a-secret', types: ['problem'] }

/** A store with a session, an identity provider and a webhook, and a key file beside it. */
interface Place {
  readonly storeUrl: string
  readonly stateDir: string
  readonly file: string
  readonly tenants: Tenants
  readonly idpId: number
  readonly refreshToken: unknown
}

async function makePlace(
  t: Test,
  storeUrl: string | null = null,
  stateDir = t.testdir(),
): Promise<Place> {
  const url = storeUrl ?? `sqlite:${join(stateDir, 'coordinator.db')}`
  const tenants = await startTenants(t, { stateDir, storeUrl: url })
  const organization = { id: await tenants.makeOrganization('red') }
  const made = await tenants.system.call(201, 'POST', '/idps', {
    ...provider,
    organization,
    clientSecret: 'the first secret',
  })
  await tenants.system.call(201, 'POST', '/webhooks', webhook)
  const { refreshToken } = (await tenants.login('root', undefined, 'correct horse battery')).body
  const file = join(stateDir, 'secret.key')
  return { storeUrl: url, stateDir, file, tenants, idpId: idOf(made), refreshToken }
}

async function open(t: Test, { storeUrl }: Pick<Place, 'storeUrl'>): Promise<Store> {
  const store = await openStore(storeUrl, pino({ enabled: false }))
  t.teardown(() => store.close())
  return store
}

async function readKey(file: string): Promise<SecretKey> {
  const key = parseSecretKey(await readFile(file, 'utf8'))
  if (!key) throw new Error(`no key in ${file}`)
  return key
}

async function readClientSecret({ identity, service }: Controller, id: number) {
  const idp = await idpReading.find(service.store.queries, { kind: 'all' }, id)
  if (!idp) throw new Error('no provider')
  return (await openProvider(identity.sealing, idp)).clientSecret
}

async function refresh(c: Controller, token: unknown): Promise<Record<string, unknown>> {
  const headers = { authorization: `Refresh ${String(token)}` }
  return (await c.call('POST', '/api/v1/auth/refresh', { headers })).body
}

void t.test('a new key while coordinators run', async (t) => {
  const postgres = await startPostgres(t)
  for (const storeUrl of [null, await postgres.url()])
    await t.test(storeUrl === null ? 'on SQLite' : 'on PostgreSQL', async (t) => {
      const place = await makePlace(t, storeUrl)
      const { tenants, file, idpId } = place
      const one = tenants.controller
      const two = (await startTenants(t, place)).controller
      const before = await readKey(file)
      const cookie = one.identity.sealing.seal('a login that has begun', 'logins')

      t.equal(await rotateSecretKey(await open(t, place), file), 5)

      const after = await readKey(file)
      t.not(after.id, before.id)
      for (const { kind, sealed } of await listSealedTexts(one.service.store.queries)) {
        t.equal(openText(before, sealed, sealedPurposes[kind]), undefined)
        t.type(openText(after, sealed, sealedPurposes[kind]), 'string')
      }
      t.strictSame(
        (await readdir(place.stateDir)).filter((name) => /^secret/.test(name)),
        ['secret.key'],
      )
      await t.test('every coordinator goes on with the new key', async (t) => {
        for (const c of [one, two]) t.equal(await readClientSecret(c, idpId), 'the first secret')
        t.equal(await one.identity.sealing.open(cookie, 'logins'), 'a login that has begun')
        const again = (await refresh(two, place.refreshToken))['refreshToken']
        t.type((await refresh(one, again))['accessToken'], 'string')
        await tenants.system.call(200, 'GET', '/auth/whoami')
      })
      await t.test('a coordinator with the old key seals writes with the new', async (t) => {
        await rotateSecretKey(await open(t, place), file)
        await tenants.system.call(200, 'PUT', `/idps/${idpId}`, { clientSecret: 'another' })
        t.equal(await readClientSecret(two, idpId), 'another')
        await rotateSecretKey(await open(t, place), file)
        await tenants.system.call(200, 'PUT', `/idps/${idpId}`, { clientID: 'kept' })
        t.equal(await readClientSecret(two, idpId), 'another')
      })
      await t.test('a coordinator that starts reads the new key', async (t) => {
        const later = (await startTenants(t, place)).controller
        t.equal(await readClientSecret(later, idpId), 'another')
      })
    })
})

void t.test('a host without the new key file reports it until it has the file', async (t) => {
  const place = await makePlace(t)
  const stateDir = join(place.stateDir, 'other')
  await mkdir(stateDir)
  await copyFile(place.file, join(stateDir, 'secret.key'))
  const other = (await startTenants(t, { ...place, stateDir })).controller
  await rotateSecretKey(await open(t, place), place.file)

  const told = { kind: 'unavailable', message: /other\/secret.key does not hold the secret key/ }
  await t.rejects(readClientSecret(other, place.idpId), told)
  await t.rejects(
    other.identity.sealing.write(other.service.store, () => Promise.resolve()),
    told,
  )
  t.type((await refresh(other, place.refreshToken))['accessToken'], 'string', 'logins still work')

  await copyFile(place.file, join(stateDir, 'secret.key'))
  await other.identity.sealing.reload()
  t.equal(await readClientSecret(other, place.idpId), 'the first secret')
})

void t.test('a rotation that was interrupted at any step', async (t) => {
  const place = await makePlace(t)
  const { file } = place
  const store = await open(t, place)
  const harnesses: [string, (key: SecretKey) => Promise<void>][] = [
    ['half a draft', () => writeFile(`${file}.new`, 'half')],
    ['half a draft of the key from before', () => writeFile(`${file}.previous.new`, 'half')],
    ['the key from before beside it', (key) => writePrevious(key)],
    ['the new key in place, nothing sealed with it', putNew],
    ['all sealed, the key from before left', () => writePrevious(makeSecretKey())],
    ['the new key lost', (key) => putNew(key).then(() => rm(file))],
  ]
  const writePrevious = (key: SecretKey) => writeFile(`${file}.previous`, formatSecretKey(key))
  async function putNew(key: SecretKey): Promise<void> {
    await writePrevious(key)
    await writeFile(file, formatSecretKey(makeSecretKey()))
  }
  for (const [title, interrupt] of harnesses)
    await t.test(title, async (t) => {
      await interrupt(await readKey(file))
      await openSealing(store, file)
      t.equal(await readClientSecret(place.tenants.controller, place.idpId), 'the first secret')

      await rotateSecretKey(store, file)

      await openSealing(store, file)
      t.equal(await readClientSecret(place.tenants.controller, place.idpId), 'the first secret')
      const left = (await readdir(place.stateDir)).filter((name) => /^secret/.test(name))
      t.strictSame(left, ['secret.key'])
    })
  await t.test('killed at each change of the folder', async (t) => {
    for (let count = 1; count <= 6; count += 1) {
      await killAtChange(t, place.stateDir, count)
      await openSealing(store, file)
      t.equal(await readClientSecret(place.tenants.controller, place.idpId), 'the first secret')
    }
  })
})

/** Sends `secret rotate` SIGKILL once its files have changed that many times. */
async function killAtChange(t: Test, stateDir: string, count: number): Promise<void> {
  let left = count
  const daemon = startDaemon(t, ['secret', 'rotate', '--state-dir', stateDir])
  const watcher = watch(stateDir, (_, name) => {
    if (!/^secret/.test(name ?? '')) return
    left -= 1
    if (left === 0) daemon.signal('SIGKILL')
  })
  await daemon.ended
  watcher.close()
}

void t.test('two concurrent rotations leave one key that opens everything', async (t) => {
  const place = await makePlace(t)
  const stores = [await open(t, place), await open(t, place)]

  await Promise.all(stores.map((store) => rotateSecretKey(store, place.file)))

  t.equal(await readClientSecret(place.tenants.controller, place.idpId), 'the first secret')
  t.match(await place.tenants.system.call(200, 'POST', '/webhooks/1/test'), {
    error: 'ECONNREFUSED',
  })
})

void t.test('no key is made for a store that another key sealed', async (t) => {
  const place = await makePlace(t)
  const store = await open(t, place)
  const right = await readFile(place.file, 'utf8')
  const wanted = { kind: 'invalid', message: /client secrets of 1 .*cachefleetd secret reset/ }
  for (const version of ['this', 'an earlier'])
    await t.test(`sealed by ${version} version`, async (t) => {
      if (version !== 'this') await deleteSetting(store.queries, 'secretKeyId')
      await rm(place.file)
      await t.rejects(openSealing(store, place.file), { ...wanted, message: /there is no secret/ })
      await t.rejects(readFile(place.file), { code: 'ENOENT' })
      await writeFile(place.file, formatSecretKey(makeSecretKey()))
      await t.rejects(openSealing(store, place.file), wanted)
      await t.rejects(rotateSecretKey(store, place.file), wanted)
      await writeFile(place.file, right)
      await openSealing(store, place.file)
    })
})

void t.test('a reset removes what the lost key sealed', async (t) => {
  const postgres = await startPostgres(t)
  for (const storeUrl of [null, await postgres.url()])
    await t.test(storeUrl === null ? 'on SQLite' : 'on PostgreSQL', async (t) => {
      const stateDir = await makeStateDir(t)
      let place: Place | undefined
      await t.test('not while a coordinator uses the store', async (t) => {
        place = await makePlace(t, storeUrl, stateDir)
        await t.rejects(resetSecrets(await open(t, place), place.file, 7), {
          kind: 'conflict',
          message: /another process uses the store/,
        })
        await place.tenants.system.call(200, 'GET', '/auth/whoami')
      })
      if (!place) throw new Error('no place')
      const { file, idpId } = place
      await writeFile(file, 'no key')
      const store = await open(t, place)
      await t.rejects(openSealing(store, file), { kind: 'invalid', message: /does not hold/ })

      t.match(await resetSecrets(store, file, 7), {
        sessions: 2,
        providers: [{ id: idpId, baseUrl: provider.baseURL, organizationName: 'red' }],
        webhooks: ['pager'],
        badKeyFile: `${file}.bad`,
      })

      t.same(await listSealedTexts(store.queries), [])
      const { controller, system } = await startTenants(t, place)
      t.equal(await readClientSecret(controller, idpId), null)
      await system.call(409, 'POST', '/webhooks/1/test')
      const { url } = webhook
      await system.call(200, 'PUT', '/webhooks/1', { url, secret: 'another-secret-key' })
      t.match(await system.call(200, 'POST', '/webhooks/1/test'), { error: 'ECONNREFUSED' })
      await system.call(200, 'PUT', `/idps/${idpId}`, { clientSecret: 'given again' })
      t.equal(await readClientSecret(controller, idpId), 'given again')
    })
})

void t.test('a rotation reseals every sealed column of the tables', async (t) => {
  const store = await open(t, { storeUrl: 'sqlite::memory:' })
  const { rows } = await sql<{ name: string }>`
    select m.name || '.' || c.name as name from sqlite_master m, pragma_table_info(m.name) c
    where m.type = 'table' and c.name like 'sealed%' order by 1`.execute(store.queries)

  t.strictSame(
    rows.map(({ name }) => name),
    [
      ...['certificateVersions.sealedKey', 'idps.sealedClientSecret'],
      ...['signingKeys.sealedPrivateJwk', 'webhooks.sealedSecret', 'webhooks.sealedUrl'],
    ],
    'add the new column to src/coordinator/identity/sealed-texts.ts',
  )
})
