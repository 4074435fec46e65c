/** Two coordinators and one rollout: the one that runs it dies during the bake, and the other one completes it. */
import type { Test } from 'tap'
import { rolloutStates, type Rollout } from '../../src/resources/rollout.js'
import { eventually } from '../support/eventually.js'
import { untilServed, type End, type PairedSite } from './coordinator-pair.js'
import { editSite, expectDone } from './harness.js'

const { Baking, Succeeded } = rolloutStates
const policy = { waves: [{ count: 1 }], bake: 5, gates: [{ name: 'restarts' }] }

export async function checkRolloutHandover(
  t: Test,
  { here, there, pair, site }: PairedSite,
): Promise<void> {
  const { api } = here.coordinator
  const group = (await api.call('GET', `/vclgroups/${site.id}`)).body
  const [deployment] = group['deployments'] as [{ id: number }] // as documented
  const setMin = async (min: number): Promise<void> => {
    expectDone(await api.call('PUT', `/deployments/${deployment.id}`, { min }))
  }
  // An agent is Down until it connects to the other coordinator.
  await setMin(1)
  await editSite(here.coordinator, site, 'handed-over')
  const deploy = `/vclgroups/${site.id}/deploy?wait=0`
  const { body } = await api.call('PUT', deploy, { rollout: policy })
  const { id } = body['rollout'] as { id: number } // as documented
  const decider = await eventually('one coordinator has started the bake', () =>
    [here, there].find((end) => hasDecided(end, id, Baking)),
  )
  const other = decider === here ? there : here

  await decider.coordinator.daemon.kill()

  const ended = await eventually('the rollout has ended', async () => {
    const answer = await other.coordinator.api.call('GET', `/rollouts/${id}`)
    const seen = answer.body as unknown as Rollout // as documented
    if (seen.endedAt === null) throw new Error(JSON.stringify(seen))
    return seen
  })
  t.match(ended, { stateName: 'Succeeded', wave: 2, reason: null })
  t.ok(hasDecided(other, id, Succeeded), 'the other has completed it')
  await untilServed(pair, site, 'handed-over', [other.coordinator.api])
  await decider.coordinator.start()
  await untilServed(pair, site, 'handed-over')
  await setMin(2)
}

/** According to its log. */
function hasDecided({ coordinator }: End, rollout: number, state: number): boolean {
  const lines = coordinator.daemon.lines()
  return lines.some((line) => line['rollout'] === rollout && line['state'] === state)
}
