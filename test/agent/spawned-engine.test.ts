/** The private varnishd of `--engine spawn`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { endRecordedProcess, writeProcessRecord } from '../../src/agent/process-record.js'
import { startSpawnedEngine } from '../../src/agent/spawned-engine.js'
import { eventually } from '../support/eventually.js'
import { fetchMark, answering, idle, serving } from './cache-sight.js'
import { startCoordinatorEnd } from './coordinator-end.js'
import { makeFolder, runTestAgent } from './run-agent.js'

const log = pino({ level: 'silent' })
const searchPath = '/usr/local/bin:/usr/bin'

void t.test(
  'a spawned cache serves, comes back when it dies, and ends with the agent',
  async (t) => {
    const coordinator = await startCoordinatorEnd(t)
    const stateDir = await makeFolder(t)
    const spawned = await startSpawnedEngine({ stateDir, searchPath, log })
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
    process.kill(pid, 'SIGKILL')
    // The old worker serves for a moment after its manager is gone.
    const later = await eventually('another process', async () => {
      const record = await readRecord(stateDir)
      return record.pid === pid ? undefined : record
    })
    await eventually('v1 again', async () => (await fetchMark(at)).mark === 'v1')
    const protection = agent.lines.filter(({ msg }) => msg.includes('varnishd -r'))
    t.same(protection, [], 'what nobody may set is protected')

    await agent.stop()
    await spawned.stop()
    t.throws(() => process.kill(later.pid, 0), 'the process is gone')
    await t.rejects(readRecord(stateDir), 'and forgotten')
  },
)

void t.test(
  'a cache that a killed agent left is ended, and the next one has its ports',
  async (t) => {
    const stateDir = await makeFolder(t)
    const first = await startSpawnedEngine({ stateDir, searchPath, log })
    t.teardown(() => first?.stop())
    const left = await readRecord(stateDir)

    const second = await startSpawnedEngine({ stateDir, searchPath, log })
    t.teardown(() => second?.stop())

    t.not((await readRecord(stateDir)).pid, left.pid)
    t.same(second?.http, first?.http)
    t.equal(second?.engine.port, first?.engine.port)
  },
)

void t.test('a process that only has the recorded id is left alone', async (t) => {
  const folder = await makeFolder(t)
  const path = join(folder, 'process.json')
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  t.teardown(() => other.kill('SIGKILL'))
  const pid = other.pid ?? 0
  await writeProcessRecord(path, { pid, workingDirectory: '/', port: 1, httpPort: 2 })
  const record = JSON.parse(await readFile(path, 'utf8')) as Parameters<
    typeof endRecordedProcess
  >[0]

  t.equal(await endRecordedProcess({ ...record, startTime: '1' }), false)
  t.equal(other.exitCode, null)
  const exited = once(other, 'exit')
  t.equal(await endRecordedProcess(record), true)
  await exited
})

void t.test('without a varnishd there is none', async (t) => {
  const stateDir = await makeFolder(t)
  await writeFile(join(stateDir, 'varnishd'), 'not executable', { mode: 0o600 })
  const searchPath = `${stateDir}:relative:`
  t.equal(await startSpawnedEngine({ stateDir, searchPath, systemFolders: [], log }), null)
})

async function readRecord(stateDir: string): Promise<{ pid: number }> {
  const text = await readFile(join(stateDir, 'engine', 'process.json'), 'utf8')
  return JSON.parse(text) as { pid: number } // our own file
}
