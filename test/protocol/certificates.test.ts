/** tls.cert.* of a simulated cache of 9.0.2, as seen by a client of the management port; test/releases covers the real one. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Command } from '../../protocol/command.js'
import {
  parseCertificateList,
  tlsCertCommit,
  tlsCertDiscard,
  tlsCertList,
  tlsCertLoad,
  tlsCertReload,
  tlsCertRollback,
} from '../../protocol/commands/tls.js'
import { openManagementConnection } from '../../protocol/connection.js'
import { ManagementPortError } from '../../protocol/errors.js'
import { makeCertificate } from '../support/certificate.js'
import { createSimulatedEngine, type EngineOptions } from '../support/simulated-engine.js'

async function connectTo(t: Test, options: EngineOptions) {
  const engine = createSimulatedEngine({ version: '9.0.2', ...options })
  const connection = await openManagementConnection(engine.connect(), {
    secret: () => Promise.resolve(Buffer.from('')),
  })
  t.teardown(() => {
    connection.close()
    engine.close()
  })
  return <Result>(command: Command<Result>) => connection.run(command)
}

async function startWithTls(t: Test) {
  const folder = t.testdir({})
  const cert = join(folder, 'cert')
  const key = join(folder, 'key')
  const whole = join(folder, 'whole')
  await makeCertificate(cert, key, 'a.example')
  writeFileSync(whole, readFileSync(key, 'utf8') + readFileSync(cert, 'utf8'))
  const readTlsFile = (path: string) => (path === whole ? readFileSync(path, 'utf8') : null)
  const run = await connectTo(t, { readTlsFile })
  const list = async () => (await run(tlsCertList()))?.map(({ id, status }) => `${id} ${status}`)
  return { run, list, whole }
}

void t.test('loads and discards take effect with the commit', async (t) => {
  const { run, list, whole } = await startWithTls(t)
  t.same(await list(), [])

  await run(tlsCertLoad('one', whole))
  t.same(await list(), ['one staged'])
  await t.rejects(run(tlsCertReload()), { message: /staged changes/ })
  await run(tlsCertCommit())
  await run(tlsCertReload())
  t.same(await list(), ['one active'])

  await run(tlsCertDiscard('one'))
  t.same(await list(), ['one discard'])
  await run(tlsCertRollback())
  t.same(await list(), ['one active'], 'a rollback undoes the discard')
  await run(tlsCertDiscard('one'))
  await run(tlsCertCommit())
  t.same(await list(), [])
})

void t.test('a refusal is passed on in the cache’s words', async (t) => {
  const { run, list, whole } = await startWithTls(t)
  await t.rejects(run(tlsCertLoad('one', `${whole}-not`)), { message: /No such file/ })
  await t.rejects(run(tlsCertDiscard('one')), { message: /ID not found/ })
  await run(tlsCertLoad('one', whole))
  await t.rejects(run(tlsCertLoad('one', whole)), { message: /already exists/ })
  t.same(await list(), ['one staged'])
})

void t.test('a path that looks like an option is refused before it is sent', (t) => {
  t.throws(() => tlsCertLoad('one', '-f'), { kind: 'refused', message: /begins with a dash/ })
  t.end()
})

void t.test('a cache without a TLS listener or of another release has no list', async (t) => {
  for (const version of ['9.0.2', '7.1.1', 'vinyl-9.0.1']) {
    const run = await connectTo(t, { version })
    t.equal(await run(tlsCertList()), null, version)
  }
})

void t.test('an invalid row throws', (t) => {
  for (const text of ['default\tone\n', 'default\tone\tgone\tCN\n', 'nonsense'])
    t.throws(() => parseCertificateList(text, 'tls.cert.list'), ManagementPortError)
  t.end()
})
