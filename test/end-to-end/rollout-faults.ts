/** Faults during a rollout on real caches, as rows: each is handled as the policy requires (docs/behaviour.md, Rollouts). */
import type { Test } from 'tap'
import type { Rollout } from '../../src/resources/rollout.js'
import type { ApiClient } from '../support/api-client.js'
import { eventually } from '../support/eventually.js'
import { untilAgent, type Harness } from './harness.js'
import { ask, type Origin } from './origin.js'

export interface Fleet {
  readonly caches: readonly Harness[]
  readonly api: ApiClient
  readonly deployment: number
  /** Serves cacheable responses for the group. */
  readonly origin: Origin
  /** Deploys this source of the group; returns the id of the rollout. */
  rollOut(source: string, rollout: object): Promise<number>
  untilEnded(rollout: number): Promise<Rollout>
  untilPaused(rollout: number): Promise<Rollout>
  read(rollout: number): Promise<Rollout>
  untilAll(mark: string): Promise<void>
}

const waves = [{ count: 1 }]

interface Storing {
  /** VCL at the start of `vcl_recv`. */
  readonly recv?: string
  readonly port?: number
}

/** Caches the origin's responses, with a mark. */
export const storing = ({ port }: Origin, mark: string, more: Storing = {}): string => `vcl 4.1;
import std;
backend origin { .host = "127.0.0.1"; .port = "${more.port ?? port}"; }
sub vcl_recv { ${more.recv ?? ''} return (hash); }
sub vcl_hash { hash_data(req.url); if (req.http.X-Apart) { hash_data(req.http.X-Apart); } return (lookup); }
sub vcl_backend_response {
  set beresp.ttl = 1h;
  set beresp.http.X-Stored-By = "${mark}";
  return (deliver);
}
sub vcl_deliver { set resp.http.X-Marker = "${mark}"; return (deliver); }
`

/** Objects that a bad VCL has cached remain, unless the policy bans them where it served. */
export async function checkStored(t: Test, fleet: Fleet): Promise<void> {
  const { origin } = fleet
  const good = await fleet.rollOut(storing(origin, 'stores'), { waves, bake: 0 })
  t.match(await fleet.untilEnded(good), { stateName: 'Succeeded' })
  for (const [banOnRollback, path] of [
    [false, '/kept'],
    [true, '/banned'],
  ] as const) {
    const bad = storing(origin, 'poison')
    const id = await fleet.rollOut(bad, { waves, bake: 600, banOnRollback })
    const first = await untilBaking(fleet, id)
    const storedBy = async () => (await ask(first.cache, 'site', { path })).headers['x-stored-by']
    t.equal(await storedBy(), 'poison')
    t.match(await first.api.call('PUT', `/rollouts/${id}/abort`), { status: 200 })
    t.match(await fleet.untilEnded(id), { stateName: 'Aborted' })
    await fleet.untilAll('stores')
    if (banOnRollback)
      await eventually('it is fetched again', async () => (await storedBy()) === 'stores')
    else t.equal(await storedBy(), 'poison')
  }
  const { body } = await fleet.api.call('GET', '/invalidations')
  t.match(body, [{ type: 'ban', total: 1, target: { vclGroup: { name: 'site' } } }])
}

/** Header names of 127 characters panic the child of releases with that defect; other releases refuse them. */
const panicking = `ban("obj.http.${'a'.repeat(127)} ~ x");`

/** Bad VCLs: the effect of each in `vcl_recv`, and the gate that detects it. */
const bad: readonly (readonly [string, Storing, object, RegExp])[] = [
  [
    'halves the hit ratio',
    { recv: 'if (std.random(0, 2) < 1) { set req.hash_always_miss = true; }' },
    { name: 'hitRatio', drop: 0.2, for: 2, minRequests: 50 },
    /^hitRatio on (?:edge-\d|all): 0\.\d+, limit 0\.\d+$/,
  ],
  [
    'has a dead backend',
    { port: 9, recv: 'set req.http.X-Apart = "dead";' },
    { name: 'backendFailures', for: 2, minRequests: 20 },
    /^backendFailures on (?:edge-\d|all): /,
  ],
  [
    'panics the child',
    // From time to time only: between two deaths, there is time to switch back.
    { recv: `if (std.random(0, 20) < 1) { ${panicking} }` },
    { name: 'restarts' },
    /^restarts on (?:edge-\d|all): \d, limit 0$/,
  ],
]

export async function checkBad(t: Test, fleet: Fleet): Promise<void> {
  for (const [what, more, gate, reason] of bad)
    await t.test(`what ${what} goes back in the first wave`, async (t) => {
      const source = storing(fleet.origin, 'bad', more)
      const ended = await fleet.untilEnded(
        await fleet.rollOut(source, { waves, bake: 600, gates: [gate] }),
      )
      t.match(ended, { stateName: 'RolledBack', wave: 1, reason })
      await fleet.untilAll('stores')
      await untilChildrenLive(fleet)
    })
}

/** Gates cannot judge agents that are Down; below min, the rollout is rolled back, and waits for these agents. */
export async function checkAgentAway(t: Test, fleet: Fleet): Promise<void> {
  const { api, deployment } = fleet
  const id = await fleet.rollOut(storing(fleet.origin, 'unseen'), { waves, bake: 600 })
  const first = await untilBaking(fleet, id)
  await first.agent.kill()
  await untilAgent(first, 'Down')
  const blind = /no agent that has switched is running/
  const seen = await eventually('no agent has figures for its gates', async () => {
    const rollout = await fleet.read(id)
    if (rollout.gates.every(({ reason }) => blind.test(reason ?? ''))) return rollout
    throw new Error(JSON.stringify(rollout))
  })
  t.match(seen, { stateName: 'Baking', wave: 1 })
  const setMin = (min: number) => api.call('PUT', `/deployments/${deployment}`, { min })
  first.startAgent()
  await untilAgent(first, 'Running')
  t.match(await setMin(3), { status: 200 })
  await first.agent.kill()
  await eventually('it goes back', async () => (await fleet.read(id)).stateName === 'RollingBack')
  first.startAgent()
  const reason = 'deployment "site" has 2 of at least 3 agents serving'
  t.match(await fleet.untilEnded(id), { stateName: 'RolledBack', reason })
  t.match(await setMin(1), { status: 200 })
  await fleet.untilAll('stores')
}

/** The cache of the first wave is killed and restarted. */
export async function checkCacheKilled(t: Test, fleet: Fleet): Promise<void> {
  const id = await fleet.rollOut(storing(fleet.origin, 'killed'), { waves, bake: 600 })
  const first = await untilBaking(fleet, id)
  await first.cache.stop('SIGKILL')
  await untilAgent(first, 'Failing')
  await first.cache.restart()
  t.match(await fleet.untilEnded(id), { stateName: 'RolledBack', reason: /^restarts on/ })
  await fleet.untilAll('stores')
  await untilChildrenLive(fleet)
}

/** A child that died just before a switch counts against the next release, until agents have read their counters again. */
async function untilChildrenLive({ caches }: Fleet): Promise<void> {
  for (const { cache, agentName } of caches)
    await eventually(`the child of ${agentName} lives on`, async () => {
      const { headers } = await ask(cache, 'site', { path: '/lives' })
      return Number(headers['age']) >= livesSeconds
    })
}

/** The time of some readings of an agent. */
const livesSeconds = 4

/** Without requests, or before the log tool has reattached to a cache, gates are inconclusive: a user decides, as the policy says. */
export async function checkNoTraffic(t: Test, fleet: Fleet): Promise<void> {
  const source = storing(fleet.origin, 'quiet')
  const id = await fleet.rollOut(source, { waves, bake: 1, onInconclusive: 'pause' })
  t.match((await fleet.untilPaused(id)).reason, /^inconclusive: errors on all: /)
  await fleet.api.call('PUT', `/rollouts/${id}/advance`)
  await fleet.untilPaused(id)
  t.match(await fleet.api.call('PUT', `/rollouts/${id}/advance`), { status: 200 })
  t.match(await fleet.untilEnded(id), { stateName: 'Succeeded' })
  await fleet.untilAll('quiet')
}

/** Returns the harness whose cache is the first wave. */
async function untilBaking(fleet: Fleet, id: number): Promise<Harness> {
  const name = await eventually('the first wave is baking', async () => {
    const { stateName, waves: planned } = await fleet.read(id)
    return stateName === 'Baking' ? planned[0]?.agents?.[0]?.agent.name : undefined
  })
  const first = fleet.caches.find(({ agentName }) => agentName === name)
  if (!first) throw new Error(`no cache of ${name}`)
  return first
}
