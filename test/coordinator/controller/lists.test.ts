/** Every list, filtered and sorted by each of its fields, on both databases; a fleet read in pieces (docs/behaviour.md, Lists). */
import t, { type Test } from 'tap'
import { saveBackendReports } from '../../../src/coordinator/backends/backend-recorder.js'
import { resourceRoutes } from '../../../src/coordinator/controller/resources.js'
import { insertRollout } from '../../../src/coordinator/fleet/rollout-queries.js'
import { startPostgres } from '../../support/postgres.js'
import { makeRollout } from '../rollouts/made-rollout.js'
import { placeGroup, type Placed } from './placed-group.js'
import { enrol, startClient, type Client, type Json } from './client.js'

void t.test('on SQLite', async (t) => {
  await filtersAndSorts(t, await startClient(t))
})

void t.test('on PostgreSQL', async (t) => {
  const postgres = await startPostgres(t)
  await filtersAndSorts(t, await startClient(t, await postgres.url()))
})

/** The value of a field in a GET body: `tags.name` is the name of the first tag. */
function valueAt(row: Json, field: string): unknown {
  return field.split('.').reduce<unknown>((value, key) => {
    const inner: unknown = Array.isArray(value) ? value[0] : value
    return typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : inner
  }, row)
}

async function filtersAndSorts(t: Test, client: Client) {
  await seed(client)
  for (const route of resourceRoutes(client.service)) {
    const { path } = route
    const fields = Object.keys(route.query?.properties ?? {})
    if (route.method !== 'GET' || !fields.includes('take')) continue
    const at = path.replace('{id}', '1')
    const all = await client.list(at)
    const [first] = all
    t.ok(first, `${path} has a row`)
    for (const field of fields.filter((name) => !['sort', 'take'].includes(name)))
      await checkField(t, client, { at, field, first: first ?? {}, total: all.length })
  }
}

interface Checked {
  readonly at: string
  readonly field: string
  readonly first: Json
  readonly total: number
}

async function checkField(t: Test, client: Client, { at, field, first, total }: Checked) {
  const everyNested = (await client.list(`${at}?${field}=*,null`)).length
  const value = valueAt(first, field)
  const pattern = String(value).replaceAll(/[\\*,]/g, '\\$&')
  const same = await client.list(`${at}?${field}=${encodeURIComponent(pattern)}`)
  if (value !== undefined && typeof value !== 'object')
    t.ok(
      same.some((row) => row['id'] === first['id']),
      `${at}?${field}=${pattern}`,
    )
  t.same(await client.list(`${at}?${field}=no-such-value`), [])
  if (
    /^(?:tags|agents|includes|tests|domains|deployments|problems|staged\.problems)\.|^seenBy$/.test(
      field,
    )
  )
    return
  t.equal(everyNested, total, `${at}?${field}=*`)
  const sorted = await client.list(`${at}?sort=${field}:desc`)
  t.equal(sorted.length, total)
  t.equal((await client.list(`${at}?sort=${field}&take=1`)).length, 1)
}

async function seed(client: Client): Promise<void> {
  const id = await enrol(client, 'edge-1', { tags: ['rack'] })
  await enrol(client, 'edge-2')
  const tag = await client.expect(201, 'POST', '/tags', { name: 'web, * and \\' })
  await client.expect(200, 'PUT', `/agents/${id}`, { tags: [{ id: tag['id'] }] })
  const file = await client.expect(201, 'POST', '/vcls', { name: 'own.vcl', source: 'vcl 4.1;' })
  await client.expect(200, 'PUT', `/files/${String(file['id'])}`, { source: 'vcl 4.0;' })
  const deployment = await client.expect(201, 'POST', '/deployments', {
    name: 'own',
    tags: [{ id: tag['id'] }],
  })
  const domain = await client.expect(201, 'POST', '/domains', { fqdn: '*.web.example' })
  for (const name of ['one', 'two'])
    await client.expect(201, 'POST', '/vclgroups', {
      name,
      mainVCL: { id: file['id'] },
      includes: [{ id: file['id'] }],
      domains: [{ id: domain['id'] }],
      deployments: [{ id: deployment['id'] }],
    })
  const ban = { type: 'ban', expression: 'req.url ~ x', target: { all: true } }
  await client.expect(202, 'POST', '/invalidations', ban)
  await client.expect(409, 'DELETE', `/deployments/${String(deployment['id'])}`)
  await client.expect(409, 'DELETE', `/files/${String(file['id'])}`)
  await client.expect(409, 'DELETE', `/tags/${String(tag['id'])}`)
  const placed = await placeGroup(client, ['edge-3'])
  await reportBackends(client, placed)
  const rolledOut = {
    groupId: Number(placed.group['id']),
    groupName: 'placed',
    organizationId: null,
  }
  await client.service.store.transaction((queries) =>
    insertRollout(queries, makeRollout(rolledOut)),
  )
  await client.apiLog.close()
}

/** Reports one sick backend of the placed group. */
async function reportBackends({ service }: Client, { group, agentIds }: Placed): Promise<void> {
  const sick = [{ name: 'default', since: service.now() }]
  const name = `cf-${String(group['id'])}-01234567-1`
  const vcls = [{ name, healthy: [], sick, omitted: { healthy: 0, sick: 0 } }]
  await saveBackendReports(
    service,
    agentIds.map((agentId) => ({ agentId, vcls })),
  )
}
