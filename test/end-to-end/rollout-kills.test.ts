/** SIGKILL of the coordinator in each state of a rollout: it ends as without the kill (docs/behaviour.md, Rollouts). */
import t from 'tap'
import type { Rollout } from '../../src/resources/rollout.js'
import { eventually } from '../support/eventually.js'
import { startMixedFleet } from '../support/mixed-fleet.js'
import { answering } from '../support/observe-cache.js'
import { expectDone } from './harness.js'

interface Row {
  /** The state of the rollout when the coordinator dies. */
  readonly state: 'Loading' | 'Switching' | 'Baking' | 'Paused' | 'RollingBack'
  /** Called during the bake. */
  readonly before?: 'pause' | 'abort'
  /** The command that no cache answers before the coordinator is back. */
  readonly held?: 'vcl.inline' | 'vcl.use'
  /** Called once the coordinator is back. */
  readonly after?: 'resume'
  readonly ends: 'Failed' | 'Succeeded' | 'Aborted'
}

const rows: readonly Row[] = [
  { state: 'Loading', held: 'vcl.inline', ends: 'Failed' },
  { state: 'Switching', held: 'vcl.use', ends: 'Succeeded' },
  { state: 'Baking', ends: 'Succeeded' },
  { state: 'Paused', before: 'pause', after: 'resume', ends: 'Succeeded' },
  { state: 'RollingBack', before: 'abort', held: 'vcl.use', ends: 'Aborted' },
]
const policy = { waves: [{ count: 1 }], bake: 3, gates: [{ name: 'restarts' }] }

void t.test('rollouts of a coordinator that is killed', async (t) => {
  const { coordinator, engines } = await startMixedFleet(t, {
    'edge-1': '7.1.1',
    'edge-2': '7.1.1',
    'edge-3': '7.1.1',
  })
  const { api } = coordinator
  const mainFile = await api.makeFile('main.vcl', answering('first'))
  const limits = { min: 1, max: 3 }
  const deployment = await api.makeDeployment('all', await api.findTag('web'), limits)
  const group = await api.makeGroup({ name: 'site', mainFile, deployment })
  expectDone(await api.act(group, 'deploy'))
  const read = async (id: number): Promise<Rollout> =>
    (await api.call('GET', `/rollouts/${id}`)).body as unknown as Rollout // as documented
  const until = (id: number, stateName: string): Promise<Rollout> =>
    eventually(`it is ${stateName}`, async () => {
      const seen = await read(id)
      if (seen.stateName !== stateName) throw new Error(JSON.stringify(seen))
      return seen
    })
  const hold = (onCommand: string | undefined): void => {
    for (const engine of engines()) if (onCommand) engine.setFault('frozen', { onCommand })
  }

  for (const { state, before, held, after, ends } of rows)
    await t.test(`in state ${state} it ends ${ends}`, async (t) => {
      const { revision: previous } = await api.readGroup(group)
      await api.editFile(mainFile, answering(state))
      if (!before) hold(held)
      const deploy = `/vclgroups/${group}/deploy?wait=0`
      const { body } = await api.call('PUT', deploy, { rollout: policy })
      const { id } = body['rollout'] as { id: number } // as documented
      if (before) {
        await until(id, 'Baking')
        hold(held)
        expectDone(await api.call('PUT', `/rollouts/${id}/${before}`))
      }
      await until(id, state)

      await coordinator.daemon.kill()
      await coordinator.start()

      if (after) {
        t.match(await read(id), { stateName: state })
        expectDone(await api.call('PUT', `/rollouts/${id}/${after}`))
      }
      for (const engine of engines()) engine.setFault(null)
      const ended = await until(id, ends)
      t.match(ended, { fromRevision: previous, wave: ends === 'Succeeded' ? 2 : Number(!!before) })
      const revision = ends === 'Succeeded' ? ended.revision : previous
      await eventually('all serve the expected release', async () => {
        const seen = await api.readGroup(group)
        const places = seen.agentStates.map((place) => `${place.state} ${String(place.revision)}`)
        const isSettled = places.every((place) => place === `applied ${String(revision)}`)
        if (seen.revision !== revision || places.length !== 3 || !isSettled)
          throw new Error(JSON.stringify(seen))
        return true
      })
      const [newest] = await api.readHistory(group)
      t.match(newest, ends === 'Succeeded' ? { revision, result: 'ok' } : { revision: null })
    })
})
