/** The license of the console: which calls need one, how to upload one, and which texts are valid (docs/behaviour.md, Console license). */
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readLicenseKey } from '../../../src/coordinator/console/license.js'
import { enrol } from '../controller/client.js'
import { startConsole, type ConsoleClient } from './console-client.js'
import { daySeconds, makeLicense, vendor } from './make-license.js'

const stranger = generateKeyPairSync('ed25519')

const upload = ({ call }: ConsoleClient, text: string) =>
  call('POST', '/v1/license/upload', { text, type: 'text/plain' })

const grace = 'x-console-grace-left'

void t.test('without a key, no call needs a license and no license is accepted', async (t) => {
  const client = await startConsole(t)
  const { body, headers } = await client.call('GET', '/v1/license')
  t.match(body, { state: 'off', name: null, expires: null })
  t.equal(headers.get(grace), null)
  t.equal((await client.call('GET', '/v1/cache')).status, 200)
  t.equal((await upload(client, makeLicense(30))).status, 409)
})

void t.test('without a license every call answers 402, except license calls', async (t) => {
  const client = await startConsole(t, { licenseKey: vendor.publicKey })
  const { call, login, controller } = client
  for (const route of controller.consoleRoutes) {
    if (route.permission === 'public' || route.errorKey === 'license') continue
    const path = route.path.replaceAll(/\{\w+\}/g, '1')
    const answer = await call(route.method, path)
    t.equal(answer.status, 402, route.operationId)
    t.match(answer.body['message'], /there is no license/)
    t.equal((await call(route.method, path, { as: null })).status, 401, 'no credentials are 401')
  }
  t.match(await login('root', 'correct horse battery'), /^JSESSIONID=/)
  t.equal((await call('GET', '/rest/version')).status, 200)
  t.match((await call('GET', '/v1/license')).body, { state: 'missing' })
  const token = await controller.login()
  const session = await controller.call('GET', '/api/v1/sessions', { token })
  t.equal(session.status, 200, 'the controller needs no license')
})

void t.test('an invalid license is refused and changes nothing', async (t) => {
  const client = await startConsole(t, { licenseKey: vendor.publicKey })
  const [head = '', payload = ''] = makeLicense(30, { alg: 'none' }).split('.')
  const cases = [
    'not a license',
    makeLicense(30, { key: stranger.privateKey }),
    `${head}.${payload}.`,
    makeLicense(30, { alg: 'HS256' }),
    makeLicense(30, { alg: 'Ed25519' }),
    makeLicense(30, { maxCaches: 'many' }),
    makeLicense(-30),
    'x'.repeat(20_000),
  ]
  for (const text of cases) {
    const answer = await upload(client, text)
    t.equal(answer.status, 400, text.slice(0, 40))
    t.type(answer.body['message'], 'string')
    t.equal((await client.call('GET', '/v1/cache')).status, 402)
  }
  t.equal((await client.call('POST', '/v1/license/upload', { body: {} })).status, 415)
})

void t.test(
  'a license opens the console; each answer shows the grace period; its end is 402',
  async (t) => {
    const client = await startConsole(t, { licenseKey: vendor.publicKey })
    const { call, controller } = client
    const first = await upload(client, `${makeLicense(30)}\n`)
    t.match(first, { status: 200, body: { state: 'valid', name: 'example', maxCaches: 100 } })
    t.equal((await call('GET', '/v1/cache')).headers.get(grace), null)

    const late = await upload(client, makeLicense(-3))
    t.match(late, { status: 200, body: { state: 'grace', graceDaysLeft: 7 } })
    for (const path of ['/v1/cache', '/rest/version', '/v1/cache/0/0', '/v1/cache/0'])
      t.equal((await call('GET', path)).headers.get(grace), '7 day(s) left', path)
    controller.advance(6 * daySeconds * 1000)
    t.equal((await call('GET', '/v1/cache')).headers.get(grace), '1 day(s) left')
    controller.advance(daySeconds * 1000)
    t.match(await call('GET', '/v1/cache'), { status: 402, body: { message: /have expired/ } })
    t.match((await call('GET', '/v1/license')).body, { state: 'expired', name: 'example' })
  },
)

void t.test('more caches than the license allows answer 402 within seconds', async (t) => {
  const client = await startConsole(t, { licenseKey: vendor.publicKey })
  t.equal((await upload(client, makeLicense(30, { maxCaches: 1 }))).status, 200)
  await enrol(client.controller, 'first')
  client.controller.advance(4_000)
  t.equal((await client.call('GET', '/v1/cache')).status, 200)
  await enrol(client.controller, 'second')
  client.controller.advance(4_000)
  t.match(await client.call('GET', '/v1/cache'), {
    status: 402,
    body: { message: /more caches than the 1/ },
  })
  t.equal((await upload(client, makeLicense(30, { maxCaches: 2 }))).status, 200)
  t.equal((await client.call('GET', '/v1/cache')).status, 200)
})

void t.test('only an Ed25519 public key in a PEM file is accepted as the key', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const write = async (name: string, text: string | Buffer): Promise<string> => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }
  const pem = { type: 'spki', format: 'pem' } as const
  const right = await write('right.pem', vendor.publicKey.export(pem))
  t.equal((await readLicenseKey(right)).asymmetricKeyType, 'ed25519')
  await refuses(t, await write('rsa.pem', rsa.publicKey.export(pem)))
  const secret = vendor.privateKey.export({ type: 'pkcs8', format: 'pem' })
  await refuses(t, await write('private.pem', secret))
  await refuses(t, await write('empty.pem', ''))
  await refuses(t, join(folder, 'missing.pem'))
})

async function refuses(t: Test, file: string): Promise<void> {
  await t.rejects(readLicenseKey(file), { kind: 'invalid', message: /^--license-key must name/ })
}
