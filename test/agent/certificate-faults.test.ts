/** Certificates on an agent under badly timed faults: the old ones keep serving, and no key file is left behind. */
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
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

void t.test('after a failed commit the previous certificate is committed again', async (t) => {
  const { engine, coordinator, agent } = await startTlsAgent(t)
  const [one, two] = [await give(coordinator, 1), await give(coordinator, 1)]
  await coordinator.apply(2, withCertificates(one))
  await coordinator.apply(3, withCertificates(one, { ...two, staged: true }))
  engine.setFault('commit-refused', { times: 1 })
  const report = await coordinator.apply(4, withCertificates(two))
  t.match(report.certificates, [{ name: two.name, state: 'failed', error: /simulated fault/ }])
  t.equal(report.result, 'applied', 'a certificate failure is not a VCL failure')
  t.same(await listed(engine), [{ id: one.name, status: 'active' }])
  const boot = await readFile(join(agent.stateDir, 'boot.cli'), 'utf8')
  t.match(boot, `-tls.cert.load ${one.name} `)
  t.notMatch(boot, two.name)
  const file = fileOf(agent, one)
  const text = await readFile(file, 'utf8')
  await rm(file)
  await eventually('the undesired file is kept', () => readIfThere(file) === text)
  const again = await coordinator.apply(5, withCertificates(two))
  t.match(again.certificates, [{ name: two.name, state: 'committed', error: null }])
  t.same(await listed(engine), [{ id: two.name, status: 'active' }])
  t.same(await readdir(join(agent.stateDir, 'tls')), [fileName(two)])
})

void t.test('after repeated commit failures the previous certificate keeps serving', async (t) => {
  const { engine, coordinator } = await startTlsAgent(t)
  const [one, two] = [await give(coordinator, 1), await give(coordinator, 1)]
  await coordinator.apply(2, withCertificates(one))
  engine.setFault('commit-refused')
  const report = await coordinator.apply(3, withCertificates(two))
  t.match(report.certificates, [{ name: two.name, state: 'failed', error: /simulated fault/ }])
  engine.setFault(null)
  t.same(await listActive(engine), [one.name])
})

void t.test('a file is removed only once the boot file no longer names it', async (t) => {
  const { engine, coordinator, agent, config } = await startTlsAgent(t)
  const [one, two] = [await give(coordinator, 1), await give(coordinator, 1)]
  await coordinator.apply(2, withCertificates(one))
  const boot = join(agent.stateDir, 'boot.cli')
  await rm(boot)
  await mkdir(boot) // so the boot file cannot be replaced
  await agent.stop()
  const next = await runTestAgent(t, coordinator, config, { stateDir: agent.stateDir })
  await coordinator.hello(2)
  await coordinator.apply(3, withCertificates(two))
  t.same(await listActive(engine), [two.name])
  t.ok(readIfThere(fileOf(next, one)), 'the old boot file still works')
  await rm(boot, { recursive: true })
  await eventually('the file is removed', () => readIfThere(fileOf(next, one)) === null)
  t.match(await readFile(boot, 'utf8'), `-tls.cert.load ${two.name} `)
})

void t.test('a killed agent leaves no key file behind', async (t) => {
  const { coordinator, agent, config } = await startTlsAgent(t)
  const one = await give(coordinator, 1)
  // Killed between the write and the load; the draft comes from a write that was itself killed.
  await coordinator.apply(2, withCertificates({ ...one, staged: true }))
  await agent.stop()
  await writeFile(`${fileOf(agent, one)}.new`, 'half a key')
  const state = join(agent.stateDir, 'state.json')
  const record = await readFile(state, 'utf8')
  await writeFile(state, record.replace('"state":"loading"', '"state":"discarded"'))
  await runTestAgent(t, coordinator, config, { stateDir: agent.stateDir })
  await coordinator.hello(2)
  await coordinator.apply(3, idle)
  t.same(await readdir(join(agent.stateDir, 'tls')), [])
})

void t.test('a file is recorded in the state before it is written', async (t) => {
  const { engine, coordinator, agent } = await startTlsAgent(t)
  const one = await give(coordinator, 1)
  engine.setFault('frozen', { onCommand: 'tls.cert.list' })
  const applied = coordinator.apply(2, withCertificates(one))
  await eventually('the file is written', () => readIfThere(fileOf(agent, one)) !== null)
  const { certificates } = JSON.parse(
    await readFile(join(agent.stateDir, 'state.json'), 'utf8'),
  ) as { certificates: readonly unknown[] } // the agent's own record
  t.same(certificates, [{ ...one, state: 'discarded' }])
  engine.setFault(null)
  await applied
})

void t.test('a certificate staged in a child that died is staged again', async (t) => {
  const { engine, coordinator } = await startTlsAgent(t)
  const [one, two] = [await give(coordinator, 1), await give(coordinator, 1)]
  const phaseOne = withCertificates(one, { ...two, staged: true })
  await coordinator.apply(2, withCertificates(one))
  await coordinator.apply(3, phaseOne)
  engine.killChild()
  const report = await coordinator.apply(4, phaseOne)
  t.match(report.certificates, [{ state: 'committed' }, { name: two.name, state: 'staged' }])
  t.same(
    (await listed(engine)).toSorted((a, b) => a.status.localeCompare(b.status)),
    [
      { id: one.name, status: 'active' },
      { id: two.name, status: 'staged' },
    ],
  )
})

void t.test('an agent whose cache is unreachable still reports the tls capability', async (t) => {
  const { engine, coordinator, agent, config } = await startTlsAgent(t)
  const one = await give(coordinator, 1)
  await coordinator.apply(2, withCertificates(one))
  await agent.stop()
  engine.setFault('no-challenge')
  await runTestAgent(t, coordinator, config, { stateDir: agent.stateDir })
  await coordinator.hello(2)
  t.ok(coordinator.description()?.capabilities.includes('tls'))
  engine.setFault(null)
})

void t.test('the agent keeps the mode of tlsDir, and its files there are 0640', async (t) => {
  const tlsDir = await makeFolder(t)
  await chmod(tlsDir, 0o2750)
  const { engine, coordinator } = await startTlsAgent(t, { settings: { tlsDir } })
  const one = await give(coordinator, 1)
  await coordinator.apply(2, withCertificates(one))
  t.equal((await stat(join(tlsDir, fileName(one)))).mode & 0o777, 0o640)
  t.equal((await stat(tlsDir)).mode & 0o7777, 0o2750)
  t.match(await ask(engine, 'tls.cert.list'), one.name)
  await coordinator.apply(3, idle)
  t.same(await readdir(tlsDir), [])
})
