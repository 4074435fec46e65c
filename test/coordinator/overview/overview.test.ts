/** The overview of the fleet, as far as the caller may see it (docs/behaviour.md, Overview). */
import t, { type Test } from 'tap'
import type { Overview } from '../../../src/resources/overview.js'
import { basic } from '../../support/http-call.js'
import { eventually } from '../../support/eventually.js'
import { enrol, startClient, type Client, type Json } from '../controller/client.js'
import { addDeployment, addPlacement } from '../store/rows.js'

const names = [
  ...['MAIN.client_req', 'MAIN.cache_hit', 'MAIN.cache_miss'],
  ...['MAIN.fetch_failed', 'MAIN.backend_fail'],
]
const intervalMs = 10_000

async function read(client: Client, token = client.token): Promise<Overview> {
  const { status, text } = await client.call('GET', '/api/v1/overview', { token })
  if (status !== 200) throw new Error(text)
  return JSON.parse(text) as Overview
}

/** Records samples of the last steps, the newest of which is complete. `errors`: by the group that answered them. */
function sample(
  client: Client,
  agentId: number,
  counted: readonly number[],
  errors: ReadonlyMap<number, number> = new Map(),
): void {
  const sampled = [...names, ...[...errors.keys()].map((id) => `GROUP.${id}.status_5xx`)]
  const values = [...counted, ...errors.values()]
  const newest = Math.floor(Date.now() / intervalMs) * intervalMs
  for (let step = 3; step >= 0; step -= 1) {
    const at = newest - step * intervalMs
    client.service.statistics.record({ agentId, at, spanMs: intervalMs, names: sampled, values })
  }
}

/** Creates a regular user with these read permissions, or the administrator of an organization; returns its token. */
async function logInAs(
  client: Client,
  organization: Json,
  types: readonly string[],
): Promise<string> {
  const password = 'long enough a word'
  const name = `reader of ${types.join(' ')}`
  const account = await client.expect(201, 'POST', '/accounts', { name, password, organization })
  for (const type of types)
    await client.expect(201, 'POST', '/permissions', { account, organization, type, read: true })
  const { body } = await client.call('POST', '/api/v1/auth/login', {
    headers: { authorization: basic(name, password) },
    body: { org: String(organization['name']) },
  })
  return String(body['accessToken'])
}

async function makeGroup(client: Client, name: string, organization?: Json): Promise<number> {
  const owner = organization && { organization }
  const source = 'vcl 4.1; backend default none;'
  const file = await client.expect(201, 'POST', '/files', { name, source, ...owner })
  const group = await client.expect(201, 'POST', '/vclgroups', { name, mainVCL: file, ...owner })
  return Number(group['id'])
}

void t.test('states are counted, figures are summed, the worst are found', async (t: Test) => {
  const client = await startClient(t)
  const [good, bad] = [await enrol(client, 'edge-1'), await enrol(client, 'edge-2')]
  await enrol(client, 'edge-3')
  await client.service.store.queries
    .updateTable('agents')
    .set({ state: 3 })
    .where('name', '=', 'edge-3')
    .execute()
  const groupId = await makeGroup(client, 'shop')
  const { queries } = client.service.store
  await addPlacement(queries, groupId, bad, await addDeployment(queries, 'web'))
  await queries.updateTable('placements').set({ currentName: 'cf-1-00000000-1' }).execute()
  sample(client, good, [100, 90, 10, 0, 0], new Map([[groupId, 0.5]]))
  sample(client, bad, [50, 20, 30, 2, 1], new Map([[groupId, 4]]))

  const found = await eventually('both are summed', async () => {
    const overview = await read(client)
    return overview.now?.requests === 150 ? overview : undefined
  })

  t.same(found.agents, { Running: 2, Failing: 0, Down: 1, ReadOnly: 0, Locked: 0 })
  t.match(found.groups, { Active: 0, Inactive: 1, Degraded: 0 })
  t.same(found.now, { requests: 150, hitRatio: 0.7333333, errors: 4.5, failedFetches: 3 })
  t.same(found.hourBefore, { requests: null, hitRatio: null, errors: null, failedFetches: null })
  t.same(
    found.worst?.agents.map(({ id, name, failedFetches }) => [id, name, failedFetches]),
    [[bad, 'edge-2', 3]],
    'a cache that does as well as the others is not listed',
  )
  t.match(found.worst?.groups, [{ id: groupId, name: 'shop', requests: 50, hitRatio: 0.4 }])
})

void t.test(
  'changes are described in words, with the names that the caller may read',
  async (t: Test) => {
    const client = await startClient(t)
    const organization = await client.expect(201, 'POST', '/organizations', { name: 'acme' })
    await logInAs(client, organization, []) // the first is its administrator
    const logReader = await logInAs(client, organization, ['apilog'])
    const bothReader = await logInAs(client, organization, ['apilog', 'tag'])
    const boss = await client.call('POST', '/api/v1/auth/login', {
      headers: { authorization: basic('reader of ', 'long enough a word') },
      body: { org: 'acme' },
    })
    const token = String(boss.body['accessToken'])
    await client.call('POST', '/api/v1/tags', { token, body: { name: 'web' } })
    await client.call('POST', '/api/v1/tags', { token, body: { name: 'web' } })
    const ban = { type: 'ban', expression: 'obj.status == 404', target: { all: true } }
    await client.expect(202, 'POST', '/invalidations', ban)

    const texts = (overview: Overview) => overview.changes?.map(({ text }) => text)
    const own = await eventually('the ban is listed', async () => {
      const overview = await read(client)
      return overview.changes?.[0]?.action === 'invalidate' ? overview : undefined
    })

    t.match(texts(own)?.slice(0, 1), ['banned obj.status == 404'])
    t.ok(texts(own)?.includes('created organization acme'))
    t.match(own.changes?.[0], { account: 'root', object: null })
    const ofBoth = await read(client, bothReader)
    t.same(texts(ofBoth), ['created tag web'], 'a refused call changed nothing')
    t.match(ofBoth.changes?.[0]?.object, { type: 'tag', name: 'web' })
    const ofLog = await read(client, logReader)
    t.same(texts(ofLog), ['created a tag'])
    t.equal(ofLog.changes?.[0]?.object, null)
  },
)

void t.test('a part that the caller may not read is null', async (t: Test) => {
  const client = await startClient(t)
  const organization = await client.expect(201, 'POST', '/organizations', { name: 'acme' })
  const other = await client.expect(201, 'POST', '/organizations', { name: 'globex' })
  await enrol(client, 'shared')
  const own = await enrol(client, 'own', { organizationId: Number(organization['id']) })
  const foreign = await enrol(client, 'foreign', { organizationId: Number(other['id']) })
  const theirs = await makeGroup(client, 'theirs', other)
  const ours = await makeGroup(client, 'ours', organization)
  const errors = new Map([theirs, ours].map((id, at) => [id, at + 1]))
  sample(client, own, [10, 9, 1, 0.5, 0], errors)
  sample(client, foreign, [1000, 0, 1000, 500, 0])
  await logInAs(client, organization, [])

  const ofAgents = await read(client, await logInAs(client, organization, ['agent']))
  const known = Object.entries(ofAgents).filter(([, part]) => part !== null)
  t.same(
    known.map(([name]) => name),
    ['agents', 'problems', 'problemsTotal'],
  )
  t.match(ofAgents.agents, { Running: 2 }, 'its own agents and the shared ones')

  const statsReader = await logInAs(client, organization, ['stats', 'agent'])
  const ofStats = await eventually('its cache is summed', async () => {
    const overview = await read(client, statsReader)
    return overview.now?.requests === null ? undefined : overview
  })
  t.match(ofStats.now, { requests: 10, errors: null }, 'errors belong to groups')
  const groupReader = await logInAs(client, organization, ['stats', 'agent', 'vclgroup'])
  await eventually('errors of its own groups are summed', async () => {
    const { now } = await read(client, groupReader)
    return now?.errors === 2
  })
  t.same(
    ofStats.worst?.agents.map(({ name }) => name),
    ['own'],
  )
  t.equal(ofStats.worst?.groups, null)
  const ofGroups = await read(client, await logInAs(client, organization, ['vclgroup']))
  t.match(ofGroups.groups, { Inactive: 1 }, 'no group of another organization')
  t.equal(ofGroups.agents, null)
})
