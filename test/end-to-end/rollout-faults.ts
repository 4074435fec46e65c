/** What may go wrong with a rollout on real caches, as rows: each goes as the policy says (docs/behaviour.md, Rollouts). */
import type { Test } from 'tap'
import type { Rollout } from '../../src/resources/rollout.js'
import { eventually } from '../support/eventually.js'
import type { Harness } from './harness.js'
import { ask, type Origin } from './origin.js'

export interface Fleet {
  readonly caches: readonly Harness[]
  /** Serves the group what may be stored. */
  readonly origin: Origin
  /** Deploys this source of the group; answers the rollout. */
  rollOut(source: string, rollout: object): Promise<number>
  untilEnded(rollout: number): Promise<Rollout>
  untilPaused(rollout: number): Promise<Rollout>
  read(rollout: number): Promise<Rollout>
  untilAll(mark: string): Promise<void>
}

const waves = [{ count: 1 }]

/** Stores what the origin answers, marked; `more` is VCL of its own. */
export const storing = ({ port }: Origin, mark: string, more = ''): string => `vcl 4.1;
import std;
backend origin { .host = "127.0.0.1"; .port = "${port}"; }
${more}
sub vcl_recv { return (hash); }
sub vcl_backend_response {
  set beresp.ttl = 1h;
  set beresp.http.X-Stored-By = "${mark}";
  return (deliver);
}
sub vcl_deliver { set resp.http.X-Marker = "${mark}"; return (deliver); }
`

/** What a bad VCL stored stays, unless the policy bans it where it served. */
export async function checkStored(t: Test, fleet: Fleet): Promise<void> {
  const { caches, origin } = fleet
  const good = await fleet.rollOut(storing(origin, 'stores'), { waves, bake: 0 })
  t.match(await fleet.untilEnded(good), { stateName: 'Succeeded' })
  for (const [banOnRollback, path] of [
    [false, '/kept'],
    [true, '/banned'],
  ] as const) {
    const bad = storing(origin, 'poison')
    const id = await fleet.rollOut(bad, { waves, bake: 600, banOnRollback })
    const first = await eventually('the first wave bakes', async () => {
      const { stateName, waves: planned } = await fleet.read(id)
      const name = planned[0]?.agents?.[0]?.agent.name
      return stateName === 'Baking' && caches.find(({ agentName }) => agentName === name)
    })
    if (first === false) throw new Error('eventually answers what is true')
    const storedBy = async () => (await ask(first.cache, 'site', { path })).headers['x-stored-by']
    t.equal(await storedBy(), 'poison')
    t.match(await first.api.call('PUT', `/rollouts/${id}/abort`), { status: 200 })
    t.match(await fleet.untilEnded(id), { stateName: 'Aborted' })
    await fleet.untilAll('stores')
    if (banOnRollback)
      await eventually('it is stored anew', async () => (await storedBy()) === 'stores')
    else t.equal(await storedBy(), 'poison')
  }
  const { body } = await (caches[0] as Harness).api.call('GET', '/invalidations')
  t.match(body, [{ type: 'ban', total: 1, target: { vclGroup: { name: 'site' } } }])
}
