/**
 * The agent's own host: a rollback there that is killed at any of its steps, a state dir without room, and a cache that is
 * lost while it loads.
 */
import { watch } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { requestRollback } from '../../src/agent/apply/rollback-requests.js'
import { fetchMark } from '../agent/cache-sight.js'
import { makeStateDir } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { prepareShortage } from '../support/shortage.js'
import { around, describeStep, strike, type Step, type Victim } from './faults.js'

import {
  agentName,
  deploySite,
  editSite,
  expectDone,
  lane,
  makeSite,
  readAgreement,
  readRefusal,
  startStand,
  startTraffic,
  untilAgent,
  untilServing,
  type Stand,
} from './stand.js'

t.jobs = 3

void t.test('a rollback on the host survives the loss of its agent', lane(), async (t) => {
  const stand = await startStand(t, { heartbeatSeconds: 1 })
  await untilAgent(stand, 'Running')
  const site = await makeSite(stand, 'site')
  await deploySite(stand, site)
  await editSite(stand, site, 'bad')
  await deploySite(stand, site)
  const traffic = startTraffic(t, stand.cache)
  const kills = new Map<string, () => Promise<void>>()
  for (const step of around('vcl.use'))
    kills.set(describeStep(step), () => stand.port.trap({ ...step, act: kill, fate: 'drop' }))
  // What is written: the record, the boot file, a good state; the request goes, the answer comes.
  for (let count = 1; count <= 8; count += 1)
    kills.set(`at change ${count} of the state dir`, () => killAtChange(t, stand, count))
  async function kill(): Promise<void> {
    await stand.agent.kill()
  }

  for (const [title, arm] of kills)
    await t.test(title, async (t) => {
      const killed = arm()
      await requestRollback(stand.agentStateDir, null, 0)
      await killed
      const saved = await readFile(join(stand.agentStateDir, 'state.json'), 'utf8')
      t.doesNotThrow(() => JSON.parse(saved) as unknown, 'the saved state is whole')

      stand.startAgent()

      await eventually('the request is done with', async () => {
        const files = await readdir(stand.agentStateDir)
        return !files.includes('rollback-request.json')
      })
      const agent = await untilAgent(stand, 'Locked')
      t.equal((await fetchMark(stand.cache)).mark, 'site-first', 'it went back, once')
      expectDone(await stand.api.call('PUT', `/agents/${agent.id}/unlock`))
      await eventually('all agree', () => readAgreement(stand, site), 30_000)
      t.equal((await fetchMark(stand.cache)).mark, 'bad')
      t.notMatch(await readdir(stand.agentStateDir), [/broken/])
    })
  t.same([...traffic.failures], [])
})

/** SIGKILL when something changed in the folder for that many times; resolves when it is dead. */
function killAtChange(t: Test, stand: Stand, count: number): Promise<void> {
  return new Promise((resolve) => {
    let left = count
    let last = Number.POSITIVE_INFINITY
    const watcher = watch(stand.agentStateDir, { recursive: true }, (_, file) => {
      // Written by us.
      if (file?.startsWith('rollback-request') === true && left === count) return
      left -= 1
      last = performance.now()
      if (left === 0) end()
    })
    // Where there are fewer changes, the last of them counts.
    const late = setInterval(() => {
      if (performance.now() - last > 1_500) end()
    }, 200)
    t.teardown(() => {
      clearInterval(late)
      watcher.close()
    })
    const end = (): void => {
      clearInterval(late)
      watcher.close()
      void stand.agent.kill().then(() => {
        resolve()
      })
    }
  })
}

void t.test('a state dir without room', lane(), async (t) => {
  const stateDir = await makeStateDir(t)
  const shortage = await prepareShortage(stateDir)
  const stand = await startStand(t, {
    ...{ heartbeatSeconds: 1, agentStateDir: stateDir, agentThrough: shortage.through },
  })
  t.teardown(async () => {
    await stand.agent.kill()
    await shortage.cleanUp()
  })
  await untilAgent(stand, 'Running')
  const site = await makeSite(stand, 'site')
  await deploySite(stand, site)
  const traffic = startTraffic(t, stand.cache)
  const before = await readFile(join(stateDir, 'state.json'), 'utf8')
  await shortage.begin(stand.agent)

  await editSite(stand, site, 'later')
  readRefusal(await stand.api.act(site.id, 'deploy', '?wait=30'), 503)
  const failing = await untilAgent(stand, 'Failing')
  t.match(failing, { engineError: /the state dir .* cannot be written: / })
  t.match(failing, { engineError: shortage.says })
  t.equal(await readFile(join(stateDir, 'state.json'), 'utf8'), before, 'nothing half done')
  // The agent tries again and again: a draft may be there for a moment, but none stays.
  await eventually('no draft is left', async () => (await findDrafts(stateDir)).length === 0)
  t.equal((await fetchMark(stand.cache)).mark, 'site-first')
  await stand.agent.kill()
  stand.startAgent()
  await untilAgent(stand, 'Failing')

  await shortage.end(stand.agent)
  await untilAgent(stand, 'Running')
  // The wish was kept: it may be deployed already.
  t.match(await eventually('all agree', () => readAgreement(stand, site), 30_000), /first$|later$/)
  await deploySite(stand, site)
  t.equal(await readAgreement(stand, site), 'later')
  t.same([...traffic.failures], [])
})

async function findDrafts(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.new'))
}

void t.test('a cache that is lost while it loads says nothing about the VCL', lane(), async (t) => {
  const stand = await startStand(t)
  await untilAgent(stand, 'Running')
  const site = await makeSite(stand, 'site')
  await deploySite(stand, site)
  const rows = [
    ['connection', 'after'],
    ['child', 'before'],
  ] satisfies [Victim, Step['moment']][]
  for (const [victim, moment] of rows) {
    const step = { on: 'port', name: 'vcl.inline', nth: 1, moment } as const
    await editSite(stand, site, victim)
    const answer = await strike(stand, victim, step, () => stand.api.act(site.id, 'deploy'))
    // 503: it was away for a moment; the wish is kept.
    const title = `${victim}, ${describeStep(step)}: ${answer?.text ?? ''}`
    t.ok(answer === null || [200, 503].includes(answer.status), title)
    await untilServing(stand.cache, victim)
    t.equal(await eventually('all agree', () => readAgreement(stand, site), 30_000), victim)
  }
  const agent = await stand.api.findAgent(agentName)
  t.equal(agent?.drift, null)
})
