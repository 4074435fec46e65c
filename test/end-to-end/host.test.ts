/**
 * The agent's own host: a rollback there that is killed at each of its steps, a full state dir, and a cache that is lost while it
 * loads.
 */
import { watch } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { requestRollback } from '../../src/agent/apply/rollback-requests.js'
import { fetchMark } from '../support/observe-cache.js'
import { makeStateDir } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { prepareShortage } from '../support/shortage.js'
import { around, describeStep, strike, type Step, type Victim } from './faults.js'

import { parallel } from '../support/parallel.js'
import {
  agentName,
  deploySite,
  editSite,
  expectDone,
  makeSite,
  readAgreement,
  readRefusal,
  startHarness,
  startTraffic,
  untilAgent,
  untilServing,
  type Harness,
} from './harness.js'

t.jobs = 3

void t.test('a rollback on the host survives the loss of its agent', parallel(), async (t) => {
  const harness = await startHarness(t, { heartbeatSeconds: 1 })
  await untilAgent(harness, 'Running')
  const site = await makeSite(harness, 'site')
  await deploySite(harness, site)
  await editSite(harness, site, 'bad')
  await deploySite(harness, site)
  const traffic = startTraffic(t, harness.cache)
  const kills = new Map<string, () => Promise<void>>()
  for (const step of around('vcl.use'))
    kills.set(describeStep(step), () => harness.port.trap({ ...step, act: kill, fate: 'drop' }))
  // Writes in order: the record, the boot file, a good state; the request is removed, the answer is written.
  for (let count = 1; count <= 8; count += 1)
    kills.set(`at change ${count} of the state dir`, () => killAtChange(t, harness, count))
  async function kill(): Promise<void> {
    await harness.agent.kill()
  }

  for (const [title, arm] of kills)
    await t.test(title, async (t) => {
      const killed = arm()
      await requestRollback(harness.agentStateDir, null, 0)
      await killed
      const saved = await readFile(join(harness.agentStateDir, 'state.json'), 'utf8')
      t.doesNotThrow(() => JSON.parse(saved) as unknown, 'the saved state is valid JSON')

      harness.startAgent()

      await eventually('the request is handled', async () => {
        const files = await readdir(harness.agentStateDir)
        return !files.includes('rollback-request.json')
      })
      const agent = await untilAgent(harness, 'Locked')
      t.equal((await fetchMark(harness.cache)).mark, 'site-first', 'it was rolled back once')
      // "Locked" may be what the killed agent still reported: the new one is not linked yet.
      await eventually('it is unlocked', async () => {
        const answer = await harness.api.call('PUT', `/agents/${agent.id}/unlock`)
        if (answer.status !== 503) expectDone(answer)
        return answer.status !== 503
      })
      await eventually('all agree', () => readAgreement(harness, site))
      t.equal((await fetchMark(harness.cache)).mark, 'bad')
      t.notMatch(await readdir(harness.agentStateDir), [/broken/])
    })
  t.same([...traffic.failures], [])
})

/** Kills the agent with SIGKILL at the given number of changes in the folder; resolves when it is dead. */
function killAtChange(t: Test, harness: Harness, count: number): Promise<void> {
  return new Promise((resolve) => {
    let left = count
    let last = Number.POSITIVE_INFINITY
    const watcher = watch(harness.agentStateDir, { recursive: true }, (_, file) => {
      // Written by the test.
      if (file?.startsWith('rollback-request') === true && left === count) return
      left -= 1
      last = performance.now()
      if (left === 0) end()
    })
    // If there are fewer changes, the last one counts.
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
      void harness.agent.kill().then(() => {
        resolve()
      })
    }
  })
}

void t.test('a full state dir', parallel(), async (t) => {
  const stateDir = await makeStateDir(t)
  const shortage = await prepareShortage(stateDir)
  const harness = await startHarness(t, {
    heartbeatSeconds: 1,
    agentStateDir: stateDir,
    agentThrough: shortage.through,
  })
  t.teardown(async () => {
    await harness.agent.kill()
    await shortage.cleanUp()
  })
  await untilAgent(harness, 'Running')
  const site = await makeSite(harness, 'site')
  await deploySite(harness, site)
  const traffic = startTraffic(t, harness.cache)
  const before = await readFile(join(stateDir, 'state.json'), 'utf8')
  await shortage.begin(harness.agent)

  await editSite(harness, site, 'later')
  readRefusal(await harness.api.act(site.id, 'deploy', '?wait=30'), 503)
  const failing = await untilAgent(harness, 'Failing')
  t.match(failing, { engineError: /the state dir .* cannot be written: / })
  t.match(failing, { engineError: shortage.says })
  t.equal(await readFile(join(stateDir, 'state.json'), 'utf8'), before, 'the file is unchanged')
  // The agent retries: a draft may exist for a moment, but none remains.
  await eventually('no draft is left', async () => (await findDrafts(stateDir)).length === 0)
  t.equal((await fetchMark(harness.cache)).mark, 'site-first')
  await harness.agent.kill()
  harness.startAgent()
  await untilAgent(harness, 'Failing')

  await shortage.end(harness.agent)
  await untilAgent(harness, 'Running')
  // The pending deploy may have completed already.
  t.match(await eventually('all agree', () => readAgreement(harness, site)), /first$|later$/)
  await deploySite(harness, site)
  t.equal(await readAgreement(harness, site), 'later')
  t.same([...traffic.failures], [])
})

async function findDrafts(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.new'))
}

void t.test('the loss of a cache during a load is not blamed on the VCL', parallel(), async (t) => {
  const harness = await startHarness(t)
  await untilAgent(harness, 'Running')
  const site = await makeSite(harness, 'site')
  await deploySite(harness, site)
  const rows = [
    ['connection', 'after'],
    ['child', 'before'],
  ] satisfies [Victim, Step['moment']][]
  for (const [victim, moment] of rows) {
    const step = { on: 'port', name: 'vcl.inline', nth: 1, moment } as const
    await editSite(harness, site, victim)
    const answer = await strike(harness, victim, step, () => harness.api.act(site.id, 'deploy'))
    // 503: the cache was away for a moment; the deploy stays pending.
    const title = `${victim}, ${describeStep(step)}: ${answer?.text ?? ''}`
    t.ok(answer === null || [200, 503].includes(answer.status), title)
    await untilServing(harness.cache, victim)
    t.equal(await eventually('all agree', () => readAgreement(harness, site)), victim)
  }
  const agent = await harness.api.findAgent(agentName)
  t.equal(agent?.drift, null)
})
