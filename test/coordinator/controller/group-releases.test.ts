/** `releases` of a group: valid values, pinning at deploys, and the effect on placement. */
import t from 'tap'
import { readPlacements } from '../../../src/coordinator/fleet/placement-queries.js'
import { enrol, startClient, type Client, type Json } from './client.js'

const versions = [
  ['edge-6', 'varnish', '6.0.17'],
  ['edge-7', 'varnish', '7.1.1'],
  ['edge-9', 'vinyl', '9.0.1'],
] as const

interface MixedFleet {
  readonly client: Client
  readonly agentIds: readonly number[]
  readonly deployment: Json
  readonly mainVCL: { readonly id: unknown }
}

async function startMixedFleet(client: Client): Promise<MixedFleet> {
  const agentIds: number[] = []
  for (const [name, product, version] of versions) {
    const engine = { host: '127.0.0.1', port: 6081, product, version, workingDirectory: '' }
    agentIds.push(await enrol(client, name, { tags: ['web'], description: { engine } }))
  }
  const [tag] = await client.list('/tags')
  const deployment = { name: 'web', min: 1, max: 3, tags: [{ id: tag?.['id'] }] }
  const { id } = await client.expect(201, 'POST', '/deployments', deployment)
  const { id: file } = await client.expect(201, 'POST', '/vcls', {
    name: 'main.vcl',
    source: 'vcl 4.1;\nbackend default none;\n',
  })
  return { client, agentIds, deployment: { ...deployment, id }, mainVCL: { id: file } }
}

void t.test('releases of a group are written and read like any other field', async (t) => {
  const client = await startClient(t)
  const { mainVCL } = await startMixedFleet(client)
  const made = await client.expect(201, 'POST', '/vclgroups', { name: 'site', mainVCL })
  t.equal(made['releases'], null, 'any release')
  const path = `/vclgroups/${String(made['id'])}`
  const releases = ['6.0', 'varnish-9', 'vinyl-9.0']
  t.match(await client.expect(200, 'PUT', path, { releases }), { releases })
  t.match(await client.expect(200, 'PUT', path, { keepOnFailure: false }), { releases }, 'it stays')
  t.match(await client.expect(200, 'PUT', path, { releases: null }), { releases: null })

  for (const wrong of ['viny 9', '7.x', 'v7', '', '07'])
    t.match(await client.expect(400, 'PUT', path, { releases: ['7', wrong] }), {
      errorKey: 'vclgroup',
      errorMsg: 'releases[1] must be a release of the cache such as 7, 6.0, varnish-9 or vinyl-9.0',
    })
  t.match(await client.expect(400, 'PUT', path, { releases: '7' }), {
    errorMsg: /^releases must be/,
  })
  t.match(await client.expect(400, 'PUT', path, { releases: [] }), { errorMsg: /^releases must/ })
  const many = Array.from({ length: 21 }, (_, number) => String(number))
  t.match(await client.expect(400, 'PUT', path, { releases: many }), { errorMsg: /20 items/ })
})

void t.test('a group is placed on caches of the releases of its last deploy', async (t) => {
  const client = await startClient(t)
  const { agentIds, deployment, mainVCL } = await startMixedFleet(client)
  const [six, seven, nine] = agentIds
  const deployments = [{ id: deployment['id'] }]
  const body = { name: 'site', mainVCL, deployments, releases: ['6.0', 'vinyl-9'] }
  const { id } = await client.expect(201, 'POST', '/vclgroups', body)
  const path = `/vclgroups/${String(id)}`
  const chosen = async () =>
    (await client.list(`${path}/placement`)).map((row) =>
      row['chosen'] === true ? true : row['reason'],
    )
  const refused = 'its release is Varnish 7.1.1, and the group is for the releases 6.0, vinyl-9'
  t.same(await chosen(), [true, refused, true])

  const planned = { id, name: 'site', domains: [], deployments: ['web'] }
  const foresee = async (releases: readonly string[] | null | undefined) => {
    const group = { ...planned, ...(releases !== undefined && { releases }) }
    const plan = { groups: [group], deployments: [deployment] }
    const { groups } = await client.expect(200, 'POST', '/vclgroups/placement', plan)
    const [foreseen] = groups as { agents: { agent: { id: number } }[]; shortage: string | null }[]
    return {
      ids: foreseen?.agents.map(({ agent }) => agent.id).toSorted(),
      short: foreseen?.shortage,
    }
  }
  t.same(await foresee(['7']), { ids: [seven], short: null })
  t.same((await foresee(null)).ids, [six, seven, nine])
  t.same((await foresee(undefined)).ids, [six, seven, nine])
  t.match(
    (await foresee(['8'])).short,
    /3 cannot be used: agent "edge-6": its release is Varnish 6\.0\.17/,
  )

  await client.expect(202, 'PUT', `${path}/deploy?wait=0`)
  const places = async () =>
    (await readPlacements(client.service.store.queries, { groupIds: [Number(id)] }))
      .map(({ agentId }) => agentId)
      .toSorted()
  t.same(await places(), [six, nine])
  await client.expect(200, 'PUT', path, { releases: ['7'] })
  t.same(await places(), [six, nine], 'only a deploy applies the change')

  const other = { ...body, name: 'other', releases: ['8'] }
  const { id: otherId } = await client.expect(201, 'POST', '/vclgroups', other)
  t.match(await client.expect(503, 'PUT', `/vclgroups/${String(otherId)}/deploy?wait=0`), {
    errorMsg: /deployment "web" needs 1 running agent .* its release is Vinyl 9\.0\.1/,
  })
  t.match(await client.expect(200, 'GET', `/vclgroups/${String(otherId)}`), {
    wish: { releases: ['8'], pending: true },
  })
})
