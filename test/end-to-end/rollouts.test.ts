/**
 * Rollouts on three real caches under traffic: a VCL that fails a share of requests is rolled back in its first wave, and never serves
 * on the others; a good one succeeds, also if its coordinator is killed during the bake (docs/behaviour.md, Rollouts).
 */
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Rollout } from '../../src/resources/rollout.js'
import { run, type Ran } from '../cli/run-cli.js'
import { startCoordinator } from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import { findFreePort } from '../support/free-port.js'
import { startReceiver } from '../coordinator/webhooks/receiver.js'
import { fetchMark } from '../support/observe-cache.js'
import { expectDone, startHarness, startTraffic, untilAgent, type Harness } from './harness.js'
import { startOrigin } from './origin.js'
import {
  checkAgentAway,
  checkBad,
  checkCacheKilled,
  checkNoTraffic,
  checkStored,
  type Fleet,
} from './rollout-faults.js'

const gates = [{ name: 'errors', max: 0.01, for: 2, minRequests: 50 }]
const waves = [{ count: 1 }, { count: 2 }]

/** Answers 5 % of the requests with 503. */
const failing = (mark: string): string => `vcl 4.1;
import std;
backend none none;
sub vcl_recv {
  if (std.random(0, 20) < 1) { return (synth(503)); }
  return (synth(200));
}
sub vcl_synth { set resp.http.X-Marker = "${mark}"; return (deliver); }
`
const fine = (mark: string): string => `vcl 4.1;
backend none none;
sub vcl_recv { return (synth(200)); }
sub vcl_synth { set resp.http.X-Marker = "${mark}"; return (deliver); }
`

void t.test('rollouts', async (t) => {
  const words = ['--no-agent', '--heartbeat', '3']
  const coordinator = await startCoordinator(t, { words })
  const shared = { coordinator, linked: coordinator }
  const health = await Promise.all([1, 2, 3].map(async () => `127.0.0.1:${await findFreePort()}`))
  const fleet = await Promise.all(
    health.map((listen, at) =>
      startHarness(t, {
        shared,
        agentName: `edge-${at + 1}`,
        agentWords: ['--health-listen', listen],
      }),
    ),
  )
  for (const one of fleet) await untilAgent(one, 'Running')
  const [{ api }] = fleet as [Harness, Harness, Harness]
  const file = await api.makeFile('site.vcl', fine('first'))
  const tag = await api.findTag('web')
  const deployment = await api.makeDeployment('site', tag, { min: 1, max: 3 })
  const id = await api.makeGroup({ name: 'site', mainFile: file, deployment })
  expectDone(await api.act(id, 'deploy'))
  const traffic = fleet.map(({ cache }) => startTraffic(t, cache))

  await t.test('a VCL that fails requests is rolled back in the first wave', async (t) => {
    for (const one of traffic) one.forget()
    const bad = await rollOut(failing('bad'), { waves, bake: 120, gates })
    const ended = await untilEnded(bad)
    t.match(ended, { stateName: 'RolledBack', wave: 1, revision: 2, fromRevision: 1 })
    t.match(ended.reason, /^errors on (?:edge-\d|all): 0\.\d+, limit 0\.01$/)
    t.equal(ended.waves[0]?.verdict, 'fail')
    t.match(states(ended), ['rolledBack', 'waiting', 'waiting'])
    await untilAll('first')
    const first = ended.waves[0]?.agents?.[0]?.agent.name
    for (const [at, { marks, failures }] of traffic.entries()) {
      const isFirst = fleet[at]?.agentName === first
      t.equal(marks.has('bad'), isFirst, 'it served on the first wave only')
      t.equal(failures.size > 0, isFirst)
    }
    const [newest] = await api.readHistory(id)
    t.match(newest, { revision: null, result: `rolled back: ${ended.reason ?? ''}` })
    t.match(await api.readGroup(id), { revision: 1, stateName: 'Active' })
  })

  await t.test('a good VCL succeeds without a failed request', async (t) => {
    for (const one of traffic) one.forget()
    const ended = await untilEnded(
      await rollOut(fine('second'), { waves, bake: 3, maxBake: 60, gates }),
    )
    t.match(ended, { stateName: 'Succeeded', wave: 3, reason: null })
    t.match(states(ended), ['switched', 'switched', 'switched'])
    t.same(
      ended.waves.map(({ verdict }) => verdict),
      ['pass', 'pass', 'pass'],
    )
    await untilAll('second')
    for (const { failures } of traffic) t.same([...failures], [])
    t.match(await api.readGroup(id), { revision: ended.revision, stateName: 'Active' })
    t.match((await api.readHistory(id))[0], { revision: ended.revision, result: 'ok' })
  })

  await t.test('the client deploys in waves, and reports the result of a probe', async (t) => {
    await api.editFile(file, fine('probed'))
    const policy = ['--waves', '1', '--bake', '2m', '--gate', 'probe.path=/health']
    const limits = ['--gate', 'probe.host=site.example', '--gate', 'probe.status=204']
    const more = ['--gate', 'probe.every=1', '--gate', 'probe.for=2']
    const { code, err } = await client([
      'vclgroups',
      'deploy',
      'site',
      ...policy,
      ...limits,
      ...more,
    ])
    t.match(err, /probe on all: edge-\d: GET \/health of site\.example: status 200, expected 204/)
    t.equal(code, 1)
    const { out } = await client(['rollouts', 'list', '--filter', 'stateName=RolledBack', '--json'])
    const [, probed] = (JSON.parse(out) as Rollout[]).toSorted((a, b) => a.id - b.id)
    t.match(
      probed?.gates.find(({ name }) => name === 'probe'),
      { verdict: 'fail' },
    )
    const watched = await client(['rollouts', 'watch', String(probed?.id)])
    t.match(watched.out, /RolledBack, wave 1 of 2: probe on all/)
    t.equal(watched.code, 1)
    await untilAll('second')
  })

  await t.test('a webhook is called before the next wave begins, and decides', async (t) => {
    const receiver = await startReceiver(t, (response) => response.end('{"verdict": "wait"}'))
    const fields = { name: 'gatekeeper', url: receiver.url, types: [] }
    const webhook = { id: Number((await api.call('POST', '/webhooks', fields)).body['id']) }
    const asking = { waves: [{ count: 1 }], gates: [{ name: 'webhook', webhook }] }
    const waiting = await rollOut(fine('asked'), { ...asking, bake: 1, onInconclusive: 'pause' })
    t.match(await untilPaused(waiting), {
      reason: /^inconclusive: webhook on all: /,
      problems: [{ code: 'rollout-paused', objects: [{ type: 'vclgroup', id, name: 'site' }] }],
    })
    const ill = '/rollouts?problems.code=rollout-paused'
    t.match((await api.call('GET', ill)).body, [{ id: waiting }])
    await eventually('the overview lists it', async () => {
      const { text } = await api.call('GET', '/overview')
      return text.includes('"rollout-paused"')
    })
    t.match(receiver.received[0], { type: 'gate', data: { id: waiting, stateName: 'Baking' } })
    receiver.answer = (response) => response.end('{"verdict": "fail", "reason": "orders fell"}')
    t.match(await api.call('PUT', `/rollouts/${waiting}/resume`), { status: 200 })
    const why = 'webhook on all: orders fell'
    t.match(await untilEnded(waiting), { stateName: 'RolledBack', wave: 1, reason: why })
    t.same((await api.call('GET', ill)).body, [])
    await untilAll('second')
    receiver.answer = (response) => response.end('{"verdict": "pass"}')
    const { code, out, err } = await client([
      ...['vclgroups', 'deploy', 'site', '--waves', '1', '--bake', '1', '--max-bake', '1m'],
      ...['--gate', 'webhook=gatekeeper', '--wait', '60s'],
    ])
    t.equal(code, 0, out + err)
    receiver.answer = () => undefined
    const unheard = await rollOut(fine('unheard'), { ...asking, bake: 1, onInconclusive: 'pause' })
    t.match((await untilPaused(unheard)).reason, /no answer has arrived yet/)
    await api.call('PUT', `/rollouts/${unheard}/abort`)
    await untilEnded(unheard)
    await untilAll('asked')
  })

  await t.test('a coordinator that is killed during a bake continues it', async (t) => {
    const id = await rollOut(fine('third'), { waves: [{ count: 1 }], bake: 4, gates })
    await eventually('the rollout is baking', async () => {
      const { stateName, bakedSeconds } = await read(id)
      return stateName === 'Baking' && bakedSeconds >= 1
    })
    const told = health.map((listen) => pollHealth(t, listen))
    await coordinator.daemon.kill()
    for (const { codes } of told)
      await eventually('the health endpoint answers without a coordinator', () => codes.length >= 5)
    await coordinator.start()
    const ended = await untilEnded(id)
    t.match(ended, { stateName: 'Succeeded', wave: 2 })
    for (const { codes, stop } of told) {
      await stop()
      t.same([...new Set(codes)], [200], 'no cache becomes unhealthy')
    }
    await untilAll('third')
  })

  const site: Fleet = {
    caches: fleet,
    api,
    deployment,
    origin: await startOrigin(t, 'site'),
    rollOut,
    untilEnded,
    untilPaused,
    read,
    untilAll,
  }
  await t.test('objects that a bad VCL cached are banned if the policy says so', (t) =>
    checkStored(t, site),
  )
  await checkBad(t, site)
  await t.test('agents that are Down are not judged, and the rollback waits for them', (t) =>
    checkAgentAway(t, site),
  )
  await t.test('a cache that is killed fails its rollout', (t) => checkCacheKilled(t, site))
  await t.test('without traffic, the policy decides', async (t) => {
    for (const one of traffic) await one.stop()
    await checkNoTraffic(t, site)
  })

  function client(words: readonly string[]): Promise<Ran> {
    const { base } = coordinator
    const environment = { CACHEFLEET_SERVER: base, CACHEFLEET_TOKEN: api.token }
    return run(words, { environment })
  }

  async function rollOut(source: string, rollout: object): Promise<number> {
    await api.editFile(file, source)
    const answer = await api.call('PUT', `/vclgroups/${id}/deploy?wait=0`, { rollout })
    if (answer.status !== 202) throw new Error(`answered ${answer.status}: ${answer.text}`)
    return (answer.body['rollout'] as { id: number }).id // as documented
  }

  function untilEnded(rollout: number): Promise<Rollout> {
    return eventually(
      'the rollout has ended',
      async () => {
        const seen = await read(rollout)
        if (seen.endedAt === null) throw new Error(JSON.stringify(seen))
        return seen
      },
      60_000,
    )
  }

  function untilPaused(rollout: number): Promise<Rollout> {
    return eventually('the rollout is paused', async () => {
      const seen = await read(rollout)
      return seen.stateName === 'Paused' ? seen : undefined
    })
  }

  async function read(rollout: number): Promise<Rollout> {
    const { body } = await api.call('GET', `/rollouts/${rollout}`)
    return body as unknown as Rollout // as documented
  }

  async function untilAll(mark: string): Promise<void> {
    await eventually(`all serve ${mark}`, async () => {
      const marks = await Promise.all(fleet.map(async ({ cache }) => (await fetchMark(cache)).mark))
      return marks.every((one) => one === mark)
    })
  }
})

const healthPauseMs = 100

/** Polls the health endpoint, as load balancers do, until the test ends. */
function pollHealth(t: Test, listen: string) {
  const codes: number[] = []
  let isOn = true
  const run = async (): Promise<void> => {
    while (isOn) {
      // The endpoint closes a connection after five seconds, which could break a request on a kept one.
      const answer = await fetch(`http://${listen}/health`, { headers: { connection: 'close' } })
      await answer.body?.cancel()
      codes.push(answer.status)
      await pause(healthPauseMs)
    }
  }
  const running = run()
  const stop = async (): Promise<void> => {
    isOn = false
    await running
  }
  t.teardown(stop)
  return { codes, stop }
}

function states({ waves }: Rollout): (string | undefined)[] {
  return waves.flatMap(({ agents = [] }) => agents.map(({ state }) => state))
}
