/** A freeze during a rollout (docs/behaviour.md, Freeze). */
import type { Test } from 'tap'
import type { Rollout } from '../../src/resources/rollout.js'
import type { ApiClient } from '../support/api-client.js'
import { eventually } from '../support/eventually.js'
import { answering } from '../support/observe-cache.js'
import { expectDone } from './harness.js'

interface Frozen {
  readonly administrator: ApiClient
  readonly regular: ApiClient
  /** The path of the organization. */
  readonly path: string
  /** The tag of at least two free agents. */
  readonly tag: number
}

export async function checkFrozenRollout(
  t: Test,
  { administrator, regular, path, tag }: Frozen,
): Promise<void> {
  const file = await administrator.makeFile('rolled.vcl', answering('before'))
  const limits = { min: 2, max: 2 }
  const deployment = await administrator.makeDeployment('rolled', tag, limits)
  const group = await administrator.makeGroup({ name: 'rolled', mainFile: file, deployment })
  expectDone(await regular.act(group, 'deploy'))
  await administrator.editFile(file, answering('after'))
  const policy = { waves: [{ count: 1 }], bake: 3600 }
  const deploy = `/vclgroups/${group}/deploy?wait=0`
  const { body } = await regular.call('PUT', deploy, { rollout: policy })
  const rollout = `/rollouts/${(body['rollout'] as { id: number }).id}` // as documented
  const read = async () => (await regular.call('GET', rollout)).body as unknown as Rollout // as documented
  const until = (stateName: string, bakedSeconds = 0): Promise<Rollout> =>
    eventually(`it is ${stateName}`, async () => {
      const seen = await read()
      if (seen.stateName !== stateName || seen.bakedSeconds < bakedSeconds)
        throw new Error(JSON.stringify(seen))
      return seen
    })
  const freeze = async (isOn: boolean): Promise<void> => {
    const end = Math.floor(Date.now() / 1000) + 3600
    const frozen = isOn ? { until: end, reason: 'the sale' } : null
    expectDone(await administrator.call('PUT', path, { frozen }))
  }

  await until('Baking')
  await freeze(true)
  t.match(await until('Paused'), { reason: /^held: .*the sale/, wave: 1 })
  for (const verb of ['resume', 'advance']) {
    t.match(await administrator.call('PUT', `${rollout}/${verb}`), {
      status: 409,
      text: /frozen until .*the sale.*force=true/,
    })
    t.match(await regular.call('PUT', `${rollout}/${verb}?force=true`), {
      status: 403,
      text: /only an administrator can override it/,
    })
  }
  t.match(await read(), { stateName: 'Paused', wave: 1 })
  await freeze(false)
  await until('Baking')

  await freeze(true)
  await until('Paused')
  expectDone(await administrator.call('PUT', `${rollout}/resume?force=true`))
  await until('Baking', 2)
  expectDone(await regular.call('PUT', `${rollout}/pause`))
  expectDone(await administrator.call('PUT', `${rollout}/advance?force=true`))
  t.match(await until('Baking'), { wave: 2 })
  expectDone(await regular.call('PUT', `${rollout}/abort`))
  await until('Aborted')
  await freeze(false)
  expectDone(await regular.act(group, 'undeploy'))
}
