/** The private varnishd of `--engine spawn`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { products } from '../../protocol/product.js'
import { endCacheProcesses } from '../../src/agent/host/cache-processes.js'
import { writeProcessRecord, type ProcessRecord } from '../../src/agent/host/process-record.js'
import { startSpawnedEngine, type SpawnedEngine } from '../../src/agent/engine/spawned-engine.js'
import { cacheProgram } from '../support/cache-program.js'
import { eventually } from '../support/eventually.js'
import { fetchMark, answering, idle, serving } from '../support/observe-cache.js'
import { startCoordinatorEnd, type CoordinatorEnd } from './coordinator-end.js'
import { makeFolder, runTestAgent } from './run-agent.js'

const log = pino({ level: 'silent' })
/** The agent searches Debian's folder by default. */
const folder = dirname(cacheProgram.daemon)
const where =
  folder === '/usr/sbin'
    ? { searchPath: '/usr/local/bin:/usr/bin' }
    : { searchPath: folder, systemFolders: [] }

void t.test(
  'a spawned cache serves, is restarted when it dies, and ends with the agent',
  async (t) => {
    const coordinator = await startCoordinatorEnd(t)
    const stateDir = await makeFolder(t)
    const spawned = await startSpawnedEngine({ stateDir, ...where, log })
    if (!spawned) throw new Error('there is no varnishd')
    t.teardown(() => spawned.stop())
    const at = { host: spawned.http.host, httpPort: spawned.http.port }
    const agent = await runTestAgent(t, coordinator, spawned.engine, { stateDir })
    await eventually('linked', () => agent.isLinked())
    await eventually('reached', () => agent.condition().engineState === 'stopped')
    t.match(await coordinator.apply(1, idle), { result: 'applied' })
    t.equal((await fetchMark(at)).status, 503)
    const one = { name: 'cf-1-aaaaaaaa-1', sha: coordinator.publish(answering('v1')) }
    await coordinator.apply(2, serving(one))
    t.equal((await fetchMark(at)).mark, 'v1')

    const { pid } = await readRecord(stateDir)
    const worker = await readWorkerPid(coordinator)
    // From 8.0 on a child may outlive its manager by a minute.
    process.kill(worker, 'SIGSTOP')
    process.kill(pid, 'SIGKILL')
    const later = await eventually('another process', async () => {
      const record = await readRecord(stateDir)
      return record.pid === pid ? undefined : record
    })
    t.notOk(await isThere(worker), 'the old child is not in the way')
    await eventually('v1 again', async () => (await fetchMark(at)).mark === 'v1')
    const protection = agent.lines.filter(({ msg }) => msg.includes('varnishd -r'))
    t.same(protection, [], 'parameters that must never be set are protected')

    const last = await readWorkerPid(coordinator)
    process.kill(last, 'SIGSTOP')
    await agent.stop()
    await spawned.stop()
    t.notOk(await isThere(later.pid), 'the process ended')
    t.notOk(await isThere(last), 'even with a child that does not end')
    await t.rejects(access(spawned.engine.workingDirectory ?? ''), 'the working folder is removed')
    await t.rejects(readRecord(stateDir), 'the process record is removed')
  },
)

void t.test('the agent ends the cache of a killed agent and reuses its ports', async (t) => {
  const stateDir = await makeFolder(t)
  const first = await startSpawnedEngine({ stateDir, ...where, log })
  if (!first) throw new Error('there is no varnishd')
  const record = await readRecord(stateDir)
  await first.stop()
  const left = await leaveCache(t, stateDir, first, record)

  const second = await startSpawnedEngine({ stateDir, ...where, log })
  t.teardown(() => second?.stop())

  t.notOk(await isThere(left))
  t.not((await readRecord(stateDir)).pid, left)
  t.same(second?.http, first.http)
  t.equal(second?.engine.port, first.engine.port)
})

void t.test('a process that only reads a cache’s working directory is left alone', async (t) => {
  const folder = await makeFolder(t)
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', '--', '-n', folder])
  t.teardown(() => other.kill('SIGKILL'))
  await once(other, 'spawn')
  t.same(await endCacheProcesses(folder, log), [])
  t.ok(await isThere(other.pid ?? 0))
})

for (const { daemon } of products)
  void t.test(`a ${daemon} is taken where there is no other`, async (t) => {
    const folder = await makeFolder(t)
    const program = join(folder, daemon)
    await symlink(cacheProgram.daemon, program)
    const options = { stateDir: folder, searchPath: folder, systemFolders: [], log }
    const spawned = await startSpawnedEngine(options)
    t.teardown(() => spawned?.stop())
    t.equal(spawned?.program, program)
  })

void t.test('without a varnishd no cache is spawned', async (t) => {
  const stateDir = await makeFolder(t)
  await writeFile(join(stateDir, 'varnishd'), 'not executable', { mode: 0o600 })
  const searchPath = `${stateDir}:relative:`
  t.equal(await startSpawnedEngine({ stateDir, searchPath, systemFolders: [], log }), null)
})

/** The state after an agent was killed: the cache runs, and the record names it. */
async function leaveCache(
  t: Test,
  stateDir: string,
  { program, engine, http }: SpawnedEngine,
  record: ProcessRecord,
): Promise<number> {
  await mkdir(record.workingDirectory, { recursive: true })
  const words = [
    ...['-F', '-n', record.workingDirectory, '-S', engine.secretFile ?? '', '-f', ''],
    ...['-T', `${engine.host}:${engine.port}`, '-a', `${http.host}:${http.port}`],
  ]
  const child = spawn(program, words, { detached: true, stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'spawn')
  const { pid = 0 } = child
  await writeProcessRecord(join(stateDir, 'engine', 'process.json'), { ...record, pid })
  return pid
}

async function readWorkerPid(coordinator: CoordinatorEnd): Promise<number> {
  return eventually('a child', async () => {
    const { value } = await coordinator.ask({ kind: 'command', line: 'pid' })
    const [, pid] = /^Worker: +(\d+)/m.exec(String(value)) ?? []
    return pid === undefined ? undefined : Number(pid)
  })
}

/** A process that only waits to be reaped has no command line. */
async function isThere(pid: number): Promise<boolean> {
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')) !== ''
}

async function readRecord(stateDir: string): Promise<ProcessRecord> {
  const text = await readFile(join(stateDir, 'engine', 'process.json'), 'utf8')
  return JSON.parse(text) as ProcessRecord // our own file
}
