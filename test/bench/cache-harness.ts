/** A real cache with its own coordinator, both as processes. */
import type { ApiClient } from '../support/api-client.js'
import {
  makeStateDir,
  startAgent,
  startCoordinator,
  type Daemon,
  type TestEnd,
} from '../support/daemon.js'
import { eventually } from '../support/eventually.js'
import type { Varnishd } from '../support/varnishd.js'

/** Enrols the cache as `edge` with the tag `web`; resolves when its agent is Running. */
export async function enrolCache(
  t: TestEnd,
  cache: Varnishd,
): Promise<{ readonly api: ApiClient; readonly agent: Daemon }> {
  const { api, base } = await startCoordinator(t)
  const agent = startAgent(t, cache, {
    coordinatorUrl: base.replace(/^http/, 'ws'),
    name: 'edge',
    tags: ['web'],
    stateDir: await makeStateDir(t),
    joinToken: await api.makeJoinToken(),
  })
  await eventually('the agent is Running', async () => {
    const found = await api.findAgent('edge')
    return found?.stateName === 'Running'
  })
  return { api, agent }
}
