/** An agent holds the certificates of a cache with a TLS listener: two phases, drift, kills, refusals of the cache. */
import { readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { certificateName } from '../../src/vcl/desired-certificates.js'
import { makeDomainCertificate } from '../support/domain-certificates.js'
import { eventually } from '../support/eventually.js'
import { idle } from '../support/observe-cache.js'
import { makeFolder, runTestAgent } from './run-agent.js'
import {
  ask,
  fileName,
  fileOf,
  give,
  listActive,
  listed,
  readIfThere,
  startTlsAgent,
  withCertificates,
} from './tls-agent.js'

void t.test(
  'a certificate is loaded in phase one, committed in phase two and removed when no longer desired',
  async (t) => {
    const { engine, coordinator, agent } = await startTlsAgent(t)
    const one = await give(coordinator, 1)
    const loaded = await coordinator.apply(2, withCertificates({ ...one, staged: true }))
    t.same(loaded.certificates, [{ name: one.name, state: 'staged', error: null }])
    t.same(await listed(engine), [{ id: one.name, status: 'staged' }])
    const file = fileOf(agent, one)
    t.equal((await stat(file)).mode & 0o777, 0o600)
    const committed = await coordinator.apply(3, withCertificates(one))
    t.same(committed.certificates, [{ name: one.name, state: 'committed', error: null }])
    t.same(await listActive(engine), [one.name])
    const boot = await readFile(join(agent.stateDir, 'boot.cli'), 'utf8')
    t.match(boot, `\nstart\n-tls.cert.load ${one.name} ${file}\n-tls.cert.commit\n`)

    const two = await give(coordinator, 1)
    await coordinator.apply(4, withCertificates(one, { ...two, staged: true }))
    t.same(await listActive(engine), [one.name], 'the current certificate keeps serving')
    await coordinator.apply(5, withCertificates(two))
    t.same(await listActive(engine), [two.name])
    t.same(await readdir(join(agent.stateDir, 'tls')), [fileName(two)], 'the old file is removed')
    await coordinator.apply(6, idle)
    t.same(await listActive(engine), [])
    t.same(await readdir(join(agent.stateDir, 'tls')), [])
  },
)

void t.test('dropping a certificate in phase one leaves the old one serving', async (t) => {
  const { engine, coordinator } = await startTlsAgent(t)
  const one = await give(coordinator, 1)
  const two = await give(coordinator, 1)
  await coordinator.apply(2, withCertificates(one))
  await coordinator.apply(3, withCertificates(one, { ...two, staged: true }))
  await coordinator.apply(4, withCertificates(one))
  t.same(await listed(engine), [{ id: one.name, status: 'active' }])
})

void t.test(
  'a refusal is reported in the cache’s own words, and the old certificate keeps serving',
  async (t) => {
    const { engine, coordinator } = await startTlsAgent(t)
    const one = await give(coordinator, 1)
    await coordinator.apply(2, withCertificates(one))
    const sha = coordinator.publish('no certificate')
    const wrong = { name: certificateName(1, sha), sha }
    const report = await coordinator.apply(3, withCertificates(one, { ...wrong, staged: true }))
    t.equal(report.result, 'applied', 'a certificate failure is not a VCL failure')
    t.match(report.certificates, [
      { name: one.name, state: 'committed' },
      { name: wrong.name, state: 'failed', error: /no start line/ },
    ])
    const forced = await coordinator.apply(4, withCertificates(wrong))
    t.match(forced.certificates, [{ name: wrong.name, state: 'failed' }])
    t.same(await listActive(engine), [one.name])
  },
)

void t.test('a cache without a TLS listener is sent no load, with a reason reported', async (t) => {
  const { engine, coordinator } = await startTlsAgent(t, { hasTls: false })
  t.notOk(coordinator.description()?.capabilities.includes('tls'))
  const one = await give(coordinator, 1)
  const report = await coordinator.apply(2, withCertificates(one))
  t.match(report.certificates, [{ state: 'failed', error: /^no-tls/ }])
  t.notOk(engine.journal.some((line) => line.startsWith('tls.cert.load')))
})

void t.test('the agent rewrites a removed or changed file without the coordinator', async (t) => {
  const { engine, coordinator, agent } = await startTlsAgent(t)
  t.ok(coordinator.description()?.capabilities.includes('tls'))
  const one = await give(coordinator, 1)
  await coordinator.apply(2, withCertificates(one))
  const file = fileOf(agent, one)
  const text = await readFile(file, 'utf8')
  await coordinator.close()
  await rm(file)
  await eventually('the file is back', () => readIfThere(file) === text)
  await writeFile(file, 'something else')
  await eventually('the file is repaired', () => readIfThere(file) === text)
  await eventually('it is loaded', async () => (await listActive(engine)).includes(one.name))
})

void t.test(
  'a discarded certificate is loaded again, and a restarted child has all certificates',
  async (t) => {
    const { engine, coordinator } = await startTlsAgent(t)
    const one = await give(coordinator, 1)
    const two = await give(coordinator, 2, ['other.example.com'])
    await coordinator.apply(2, withCertificates(one, two))
    await ask(engine, `tls.cert.discard ${one.name}`)
    await ask(engine, 'tls.cert.commit')
    await eventually('it is loaded again', async () =>
      (await listActive(engine)).includes(one.name),
    )
    await eventually('the drift is reported', () => coordinator.drifts().length > 0)
    engine.killChild()
    t.same((await listActive(engine)).toSorted(), [one.name, two.name].toSorted())
  },
)

void t.test(
  'the next instruction converges after the child died between load and commit',
  async (t) => {
    const { engine, coordinator } = await startTlsAgent(t)
    const one = await give(coordinator, 1)
    const two = await give(coordinator, 1)
    await coordinator.apply(2, withCertificates(one))
    await coordinator.apply(3, withCertificates(one, { ...two, staged: true }))
    engine.killChild()
    await coordinator.apply(4, withCertificates(two))
    t.same(await listed(engine), [{ id: two.name, status: 'active' }])
    await coordinator.apply(5, withCertificates(two, { ...one, staged: true }))
    engine.killChild()
    await coordinator.apply(6, withCertificates(two))
    t.same(await listed(engine), [{ id: two.name, status: 'active' }])
  },
)

void t.test('a certificate survives a death of the manager before its commit', async (t) => {
  const { engine, coordinator } = await startTlsAgent(t)
  const one = await give(coordinator, 1)
  await coordinator.apply(2, withCertificates({ ...one, staged: true }))
  engine.restartManager()
  await coordinator.apply(3, withCertificates(one))
  await eventually('it is committed', async () => (await listActive(engine)).includes(one.name))
})

void t.test('a restarted agent continues where the killed one stopped', async (t) => {
  const { engine, coordinator, agent, config } = await startTlsAgent(t)
  const one = await give(coordinator, 1)
  const two = await give(coordinator, 1)
  await coordinator.apply(2, withCertificates(one))
  await coordinator.apply(3, withCertificates(one, { ...two, staged: true }))
  await agent.stop()
  await runTestAgent(t, coordinator, config, { stateDir: agent.stateDir })
  await coordinator.hello(2)
  const report = await coordinator.apply(4, withCertificates(two))
  t.match(report.certificates, [{ name: two.name, state: 'committed' }])
  t.same(await listed(engine), [{ id: two.name, status: 'active' }])
  t.same(await readdir(join(agent.stateDir, 'tls')), [fileName(two)])
})

void t.test('the agent does not commit a certificate that somebody else staged', async (t) => {
  const { engine, coordinator, agent } = await startTlsAgent(t)
  const one = await give(coordinator, 1)
  const folder = await makeFolder(t)
  const { chain, key } = await makeDomainCertificate({ names: ['by-hand.example.com'] })
  await writeFile(join(folder, 'hand.pem'), `${chain}${key}`)
  await ask(engine, `tls.cert.load by-hand ${join(folder, 'hand.pem')}`)
  await coordinator.apply(2, withCertificates(one))
  t.same(await listActive(engine), [one.name])
  t.ok(agent.isLinked())
})

void t.test('no log line, report or saved state contains a key', async (t) => {
  const { coordinator, agent } = await startTlsAgent(t)
  const one = await give(coordinator, 1)
  await coordinator.apply(2, withCertificates(one))
  const state = await readFile(join(agent.stateDir, 'state.json'), 'utf8')
  const texts = [state, JSON.stringify(agent.lines), JSON.stringify(coordinator.received)]
  for (const text of texts) t.notMatch(text, /PRIVATE KEY/)
})
