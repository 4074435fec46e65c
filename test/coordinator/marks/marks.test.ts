/** The marks of graphs: deploys, invalidations and absent caches, by object and by caller (docs/behaviour.md, Marks). */
import t, { type Test } from 'tap'
import { agentStates } from '../../../src/resources/agent-state.js'
import { addHistory, type GroupAction } from '../../../src/coordinator/fleet/history-queries.js'
import { basic } from '../../support/http-call.js'
import { enrol, startClient, type Client, type Json } from '../controller/client.js'
import { addDeployment, addPlacement } from '../store/rows.js'

/** Milliseconds; the times of the test count from here. */
const begun = Date.UTC(2026, 0, 2)
const release = {
  mainVCL: { id: 1, version: 1, name: 'a.vcl' },
  includes: [],
  deploymentIds: [],
  sha: 'abc',
  programName: 'cf-1-abc-1',
  domains: [],
  releases: null,
}

async function makeGroup(client: Client, name: string): Promise<number> {
  const source = 'vcl 4.1; backend default none;'
  const { id } = await client.expect(201, 'POST', '/files', { name: `${name}.vcl`, source })
  const group = await client.expect(201, 'POST', '/vclgroups', { name, mainVCL: { id } })
  return Number(group['id'])
}

interface Entry {
  readonly groupId: number
  readonly action: GroupAction
  /** Seconds after `begun`. */
  readonly after: number
  readonly result?: string
}

async function addEntry(
  { service }: Client,
  { groupId, action, after, result = 'ok' }: Entry,
): Promise<void> {
  const revision = result === 'ok' ? 1 : null
  const entry = { groupId, organizationId: null, revision, account: 'ada', action, result }
  const at = begun + after * 1000
  await addHistory(service.store.queries, { ...entry, at, sources: release })
}

async function read(client: Client, query = '', seconds = 1_000): Promise<string[]> {
  const from = begun / 1000
  const { marks } = await client.expect(200, 'GET', `/marks/${from}/${from + seconds}${query}`)
  return (marks as Json[]).map(({ kind, failed, object }) => {
    const { name } = object as Json
    return `${String(kind)}${failed === true ? ' failed' : ''} ${String(name)}`
  })
}

void t.test('marks come newest first, of everything, of a group or of a cache', async (t) => {
  const client = await startClient(t)
  const { queries } = client.service.store
  const [edge, lone] = [await enrol(client, 'edge'), await enrol(client, 'lone')]
  const [shop, blog] = [await makeGroup(client, 'shop'), await makeGroup(client, 'blog')]
  await addPlacement(queries, shop, edge, await addDeployment(queries, 'web'))
  await addEntry(client, { groupId: shop, action: 'deploy', after: 10 })
  await addEntry(client, {
    groupId: blog,
    action: 'deploy',
    after: 20,
    result: 'it does not compile',
  })
  await addEntry(client, { groupId: shop, action: 'stage', after: 30 })
  await addEntry(client, { groupId: shop, action: 'rollback', after: 40 })
  await addEntry(client, { groupId: shop, action: 'reload', after: 2_000 })
  const ban = async (target: object, atSeconds: number): Promise<void> => {
    const body = { type: 'ban', expression: 'req.url ~ /', target }
    const { id } = await client.expect(202, 'POST', '/invalidations', body)
    const createdAt = begun + atSeconds * 1000
    await queries
      .updateTable('invalidations')
      .set({ createdAt })
      .where('id', '=', Number(id))
      .execute()
  }
  await ban({ vclGroup: { id: blog } }, 50)
  await ban({ agents: [{ id: lone }] }, 60)
  await queries
    .updateTable('agents')
    .set({ state: agentStates.Down, lastStateChangeAt: begun + 70_000 })
    .where('id', '=', edge)
    .execute()
  await queries
    .updateTable('agents')
    .set({ state: agentStates.Failing, lastStateChangeAt: begun + 80_000 })
    .where('id', '=', lone)
    .execute()

  const groups = ['rollback shop', 'deploy failed blog', 'deploy shop']
  t.same(await read(client), [
    ...['cache-failing lone', 'agent-down edge', 'ban ban 2', 'ban ban 1'],
    ...groups,
  ])
  t.same(await read(client, '', 25), groups.slice(1), 'marks outside of the range are left out')
  t.same(await read(client, `?vclGroup=${shop}`), [
    ...['agent-down edge', 'ban ban 2', 'rollback shop', 'deploy shop'],
  ])
  t.same(await read(client, `?agent=${lone}`), ['cache-failing lone', 'ban ban 2', 'ban ban 1'])
  t.same(await read(client, `?agent=${edge}`), [
    ...['agent-down edge', 'ban ban 1', 'rollback shop', 'deploy shop'],
  ])
  await refuse(t, client)
})

async function refuse(t: Test, client: Client): Promise<void> {
  for (const [query, message] of [
    ['?vclGroup=99', /vclGroup: 99 was not found/],
    ['?agent=99', /agent: 99 was not found/],
    ['?agent=x', /agent/],
    ['?agents=1', /agents/],
  ] as const)
    t.match(await client.send('GET', `/marks/1/2${query}`), {
      status: 400,
      body: { errorMsg: message },
    })
  t.match(await client.send('GET', '/marks/2/1'), { status: 400 })
}

void t.test('marks over the limit are cut, and the answer says so', async (t) => {
  const client = await startClient(t)
  const shop = await makeGroup(client, 'shop')
  for (let at = 0; at < 201; at++)
    await addEntry(client, { groupId: shop, action: 'deploy', after: at })
  const from = begun / 1000

  const all = await client.expect(200, 'GET', `/marks/${from}/${from + 500}`)
  t.equal((all['marks'] as Json[]).length, 200)
  t.match(all, { more: true, marks: [{ at: new Date(begun + 200_000).toISOString() }] })
  t.match(await client.expect(200, 'GET', `/marks/${from + 1}/${from + 500}`), { more: false })
})

void t.test('each caller sees only the marks that it may read', async (t) => {
  const client = await startClient(t)
  const shop = await makeGroup(client, 'shop')
  await addEntry(client, { groupId: shop, action: 'deploy', after: 10 })
  const edge = await enrol(client, 'edge')
  await client.service.store.queries
    .updateTable('agents')
    .set({ state: agentStates.Down, lastStateChangeAt: begun + 70_000 })
    .where('id', '=', edge)
    .execute()
  const organization = await client.expect(201, 'POST', '/organizations', { name: 'acme' })
  const password = 'long enough a word'
  const make = (name: string) =>
    client.expect(201, 'POST', '/accounts', { name, password, organization })
  await make('boss') // the first is its administrator
  const account = await make('reader')
  await client.expect(201, 'POST', '/permissions', {
    account,
    organization,
    type: 'stats',
    read: true,
  })
  const readAs = async (name: string, query = '') => {
    const login = await client.call('POST', '/api/v1/auth/login', {
      headers: { authorization: basic(name, password) },
      body: { org: 'acme' },
    })
    const from = begun / 1000
    const path = `/api/v1/marks/${from}/${from + 1_000}${query}`
    return client.call('GET', path, { token: String(login.body['accessToken']) })
  }

  const agentDown = [{ kind: 'agent-down', object: { id: edge, name: 'edge' } }]
  t.match((await readAs('boss')).body, { marks: agentDown, more: false }, 'a shared agent')
  t.equal(((await readAs('boss')).body['marks'] as Json[]).length, 1, 'no deploys of others')
  t.same((await readAs('reader')).body, { marks: [], more: false }, 'no permission to read agents')
  t.equal((await readAs('reader', `?agent=${edge}`)).status, 403)
  t.equal((await readAs('boss', `?vclGroup=${shop}`)).status, 400)
})
