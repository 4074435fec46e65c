/** The agents API; a test stands in for the agent session on the real bus (docs/behaviour.md, Agents and Deploy). */
import t from 'tap'
import { agentChangedSubject, agentRevokedSubject } from '../../../src/coordinator/bus/subjects.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import type { HeldCache } from '../../../src/vcl/held-cache.js'
import { markSilentDown } from '../../../src/coordinator/fleet/silence-queries.js'
import { eventually } from '../../support/eventually.js'
import { basic } from '../../support/http-call.js'
import { enrol, startClient, type Json } from './client.js'
import { placeGroup } from './placed-group.js'
import { done, playSession } from './played-session.js'

void t.test('an agent is returned with all its fields and its config', async (t) => {
  const client = await startClient(t)
  const id = await enrol(client, 'edge-1', { tags: ['static-a'] })
  const agent = await client.expect(200, 'GET', `/agents/${id}`)

  t.match(agent, {
    id,
    name: 'edge-1',
    organization: null,
    state: 1,
    stateName: 'Running',
    engineState: 'running',
    engineHost: '10.0.0.1',
    enginePort: 6081,
    engineProduct: 'vinyl',
    engineVersion: '7.1.1',
    agentVersion: /^\d+\./,
    config: {
      desired: { revision: 1 },
      lastAttempted: { revision: null, result: null, error: null, at: null },
      effective: { revision: null },
    },
    drift: null,
    lockedBecause: null,
  })
  for (const key of ['created', 'updated', 'lastHeartbeat', 'lastStateChange'])
    t.match(agent[key], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.match(agent['tags'], [{ name: 'static-a', static: true, created: /Z$/, updated: /Z$/ }])
  t.same(await client.list('/agents'), [agent])
  t.match(await client.expect(404, 'GET', '/agents/77'), { errorMsg: '77 was not found' })
})

void t.test('the last report of a Down agent is not shown as its current state', async (t) => {
  const client = await startClient(t)
  const down = `/agents/${await enrol(client, 'down')}`
  await client.service.store.decide((queries) =>
    markSilentDown(queries, Date.now() + 1000, Date.now()),
  )
  const up = `/agents/${await enrol(client, 'up')}`
  const list = async (query: string) =>
    (await client.list(`/agents?${query}`)).map(({ name }) => name)

  const wanted = { stateName: 'Down', engineState: null, lastEngineState: 'running' }
  const agent = await client.expect(200, 'GET', down)
  t.match(agent, wanted)
  t.match(await client.expect(200, 'PUT', down, agent), wanted, 'the body of GET can be PUT back')
  t.match(await client.expect(200, 'GET', up), { engineState: 'running', lastEngineState: null })
  t.same(await list('engineState=running'), ['up'])
  t.same(await list('engineState=null'), ['down'])
  t.same(await list('lastEngineState=running'), ['down'])
  t.same(await list('sort=engineState:desc'), ['up', 'down'])
})

void t.test('agents can be filtered, sorted and paged', async (t) => {
  const client = await startClient(t)
  for (const n of [1, 2, 3, 4]) await enrol(client, `edge-${n}`, { tags: [`rack-${n % 2}`, 'all'] })
  await enrol(client, 'other')
  const names = async (query: string) =>
    (await client.list(`/agents?${query}`)).map((agent) => agent['name'])

  t.same(await names('name=edge*&sort=name:desc&take=2,1'), ['edge-3', 'edge-2'])
  t.same(await names('tags.name=rack-1'), ['edge-1', 'edge-3'])
  t.same(await names('tags.name=rack-*,all&stateName=Run*'), [
    'edge-1',
    'edge-2',
    'edge-3',
    'edge-4',
  ])
  t.same(await names('state=2,3'), [])
  t.same(await names('name=edge'), [], 'a prefix needs a star')
  const [edge] = await client.list('/agents?tags.name=rack-1&take=1')
  t.match(edge?.['tags'], [{ name: 'rack-1' }, { name: 'all' }], 'nested lists stay complete')
  const page = await client.send('GET', '/agents?take=1')
  t.equal(page.headers.get('x-total-count'), '5')
  for (const query of ['nosuch=1', 'tags.nosuch=1', 'name=a&name=b', 'take=0', 'sort=tags.id'])
    t.match(await client.expect(400, 'GET', `/agents?${query}`), { errorKey: 'agent' })
})

void t.test('{Tags: [{ID}]} replaces assigned tags; static ones stay', async (t) => {
  const client = await startClient(t)
  const id = await enrol(client, 'edge-1', { tags: ['fixed'] })
  const one = await client.expect(201, 'POST', '/tags', { name: 'one' })
  const two = await client.expect(201, 'POST', '/tags', { name: 'two' })
  const put = async (body: Json) => {
    const agent = await client.expect(200, 'PUT', `/agents/${id}`, body)
    t.same(agent, await client.expect(200, 'GET', `/agents/${id}`))
    return (agent['tags'] as Json[]).map((tag) => tag['name']) // as in the schema of agents
  }

  t.same(await put({ Tags: [{ ID: one['id'] }] }), ['fixed', 'one'])
  const whole = await client.expect(200, 'GET', `/agents/${id}`)
  t.same(await put(whole), ['fixed', 'one'], 'the body of GET can be PUT back')
  const [listed] = await client.list('/tags?name=fixed')
  t.same(await put({ tags: [{ id: two['id'] }, listed] }), ['fixed', 'two'])
  t.same(await put({}), ['fixed', 'two'])
  t.same(await put({ tags: null }), ['fixed'])
  t.match(await client.expect(400, 'PUT', `/agents/${id}`, { tags: [{ id: 999 }] }), {
    errorKey: 'agent',
    errorMsg: /tags: 999/,
  })
  const [fixed] = await client.list('/tags?static=true')
  t.match(fixed, { name: 'fixed', static: true })
  for (const [method, body] of [
    ['PUT', { name: 'renamed' }],
    ['DELETE', undefined],
  ] as const)
    t.match(await client.expect(409, method, `/tags/${String(fixed?.['id'])}`, body), {
      errorKey: 'tag',
      errorMsg: /static/,
    })
})

void t.test('queries are answered by the agent; a missing session is reported', async (t) => {
  const client = await startClient(t)
  const id = await enrol(client, 'edge-1')
  const vcls = [{ name: 'cf-idle', status: 'active', state: 'auto', busy: 0, label: null }]
  t.match(await client.expect(503, 'GET', `/agents/${id}/vcls`), {
    errorKey: 'agent',
    errorMsg: /edge-1 is not connected/,
  })

  const answers = { vcls, params: { default_ttl: {} }, backends: [], bans: [], panic: null }
  const asked = playSession(t, client, id, ({ question }) => {
    if (question.kind === 'query') return done(answers[question.query])
    return done(question.kind === 'command' ? `said ${question.line}` : null)
  })

  t.same(await client.list(`/agents/${id}/vcls`), vcls)
  t.same(await client.expect(200, 'GET', `/agents/${id}/params`), { default_ttl: {} })
  t.same(await client.list(`/agents/${id}/backends`), [])
  t.same(await client.list(`/agents/${id}/bans`), [])
  t.same(await client.expect(200, 'GET', `/agents/${id}/panic`), { panic: null })
  const command = `/agents/${id}/command`
  t.same(await client.expect(200, 'POST', command, { command: 'ping\n' }), { message: 'said ping' })
  t.equal(asked.length, 6)
  for (const wrong of ['stop', 'vcl.use x', 'ping\nping', '', 'param.set cc_command x', 'x << y'])
    t.match(await client.expect(400, 'POST', command, { command: wrong }), { errorKey: 'agent' })
  await client.expect(400, 'POST', command, { command: 5 })
  t.equal(asked.length, 6, 'refused commands are not sent to the agent')
})

void t.test('changes answer 409 for a read-only agent and 423 for a locked one', async (t) => {
  const client = await startClient(t)
  const readOnly = await enrol(client, 'reader', { description: { capabilities: ['report'] } })
  const locked = await enrol(client, 'locked', {
    description: {
      condition: {
        engineState: 'running',
        engineError: null,
        heldRevision: 9,
        effectiveRevision: 9,
        lockedBecause: 'holds revision 9, the coordinator knows 1',
      },
    },
  })
  const free = await enrol(client, 'free')
  t.match(await client.expect(200, 'GET', `/agents/${readOnly}`), { stateName: 'ReadOnly' })
  t.match(await client.expect(200, 'GET', `/agents/${locked}`), { state: 5, stateName: 'Locked' })

  for (const [id, status] of [
    [readOnly, 409],
    [locked, 423],
    [free, 503],
  ] as const) {
    for (const [method, path, body] of [
      ['PUT', 'params/default_ttl', { value: '5' }],
      ['PUT', 'backends/default/sick', undefined],
    ] as const)
      t.match(await client.expect(status, method, `/agents/${id}/${path}`, body), {
        errorKey: 'agent',
      })
    // Not for the free agent: the call would wait, as a ban uses the invalidation log (invalidations.test.ts).
    if (id !== free)
      await client.expect(status, 'POST', `/agents/${id}/command`, { command: 'ban req.url ~ /' })
    await client.expect(400, 'PUT', `/agents/${id}/params/vcl_path`, { value: 'x' })
    await client.expect(400, 'PUT', `/agents/${id}/backends/default/dead`)
  }

  const { bus, store } = client.service
  const asked = playSession(t, client, locked, () => {
    // Like a heartbeat: written after the answer.
    void eventually('the agent was asked', () => asked.length === 1).then(async () => {
      const agents = store.queries.updateTable('agents').where('id', '=', locked)
      await agents.set({ lockedBecause: null, state: agentStates.Running }).execute()
      bus.publish(agentChangedSubject, { agentIds: [locked] })
    })
    return done(null)
  })
  t.match(await client.expect(200, 'PUT', `/agents/${locked}/unlock`), {
    name: 'locked',
    lockedBecause: null,
    stateName: 'Running',
  })
  t.match(await client.expect(200, 'PUT', `/agents/${free}/unlock`), { stateName: 'Running' })
  t.match(asked, [{ question: { kind: 'unlock' } }], 'only the locked agent is asked')
})

const lockedCondition = {
  engineState: 'running',
  engineError: null,
  heldRevision: 9,
  effectiveRevision: 9,
  lockedBecause: 'is enrolled at coordinator a, this is coordinator b',
} as const

void t.test('a locked agent shows the changes of an unlock, including its groups', async (t) => {
  const client = await startClient(t)
  const { deployment, group } = await placeGroup(client, ['edge-1'])
  const groupId = Number(group['id'])
  await client.expect(200, 'PUT', `/deployments/${Number(deployment['id'])}`, { max: 5 })
  const held: HeldCache = {
    childRunning: true,
    vcls: [{ name: 'boot', active: true, labelOf: null, ours: false }],
    omittedVcls: 0,
    takeover: 'registration',
    takenOver: false,
    params: [],
    backends: [],
  }
  const description = { condition: lockedCondition, held }
  const fitting = await enrol(client, 'fitting', { tags: ['web'], description })
  const idle = await enrol(client, 'idle', { description })
  const untold = await enrol(client, 'untold', { description: { condition: lockedCondition } })
  const read = async (id: number): Promise<unknown> => {
    const { config } = await client.expect(200, 'GET', `/agents/${id}`)
    return (config as Json)['difference']
  }

  t.match(await read(fitting), {
    use: new RegExp(`^cf-${groupId}-`),
    load: [new RegExp(`^cf-${groupId}-`)],
    labels: [],
    discard: ['boot'],
    params: [],
    backends: [],
    omitted: 0,
  })
  t.match(await read(idle), { use: 'cf-idle', load: ['cf-idle'], discard: ['boot'] })
  t.equal(await read(untold), null)
  const [listed] = await client.list('/agents?name=fitting')
  t.match(listed, { config: { difference: null } }, 'lists omit it')
})

void t.test('one call unlocks many agents', async (t) => {
  const client = await startClient(t)
  const description = { condition: lockedCondition }
  const [one, silent] = [
    await enrol(client, 'one', { description }),
    await enrol(client, 'silent', { description }),
  ]
  const free = await enrol(client, 'free')
  playSession(t, client, one, () => done(null))
  const unlock = (body: Json) => client.expect(200, 'PUT', '/agents/unlock', body)
  const away = { agent: { name: 'silent' }, reason: 'agent silent is not connected' }

  t.match(await unlock({ agents: [{ id: one }, { id: silent }, { id: free }] }), {
    unlocked: [{ id: one, name: 'one' }],
    skipped: [away, { agent: { name: 'free' }, reason: 'it is not locked' }],
  })
  t.match(await unlock({ all: true }), { unlocked: [{ name: 'one' }], skipped: [away] })
  for (const wrong of [{}, { all: false }, { all: true, agents: [{ id: one }] }])
    t.match(await client.expect(400, 'PUT', '/agents/unlock', wrong), { errorMsg: /agents/ })
  t.match(await client.expect(400, 'PUT', '/agents/unlock', { agents: [{ id: 999 }] }), {
    errorMsg: 'agents: 999 was not found',
  })
  await client.expect(405, 'GET', '/agents/unlock')
})

void t.test('a placed agent is deleted only with force, and its key is revoked', async (t) => {
  const client = await startClient(t)
  const { agentIds } = await placeGroup(client, ['edge-1'])
  const at = `/agents/${String(agentIds[0])}`
  const revoked: unknown[] = []
  client.service.bus.subscribe(agentRevokedSubject, (hint) => revoked.push(hint))

  t.match(await client.expect(409, 'DELETE', at), { errorKey: 'agent', errorMsg: /force=true/ })
  await client.expect(400, 'DELETE', `${at}?force=x`)
  await client.expect(204, 'DELETE', `${at}?force=true`)

  await client.expect(404, 'GET', at)
  await eventually('the revocation is published', () => revoked.length === 1)
  t.match(revoked, [{ agentIds: [agentIds[0]] }])
})

void t.test('a change that leaves a deployed group below its min needs force', async (t) => {
  const client = await startClient(t)
  const { agentIds, deployment, group } = await placeGroup(client, ['edge-1', 'edge-2'])
  const at = `/deployments/${String(deployment['id'])}`
  t.match(await client.expect(200, 'GET', at), {
    agents: [{ name: 'edge-1' }, { name: 'edge-2' }],
    state: 1,
    stateName: 'Active',
  })

  const unassign = `/agents/${String(agentIds[0])}`
  t.match(await client.expect(409, 'PUT', unassign, { tags: [] }), {
    errorKey: 'agent',
    errorMsg: new RegExp(`"${String(group['name'])}"`),
  })
  t.match(await client.expect(409, 'PUT', at, { min: 3, max: 3 }), { errorKey: 'deployment' })
  const other = await client.expect(201, 'POST', '/tags', { name: 'other' })
  await client.expect(409, 'PUT', at, { tags: [{ id: other['id'] }] })
  t.match(await client.expect(200, 'GET', at), { min: 2, max: 2 }, 'the deployment is unchanged')
  await client.expect(200, 'PUT', at, { min: 1 })
  await client.expect(200, 'PUT', unassign, { tags: [] })
  await client.expect(200, 'PUT', `${at}?force=true`, { min: 3, max: 3 })
})

void t.test(
  'a refusal does not name the group of another organization that would be short',
  async (t) => {
    const client = await startClient(t)
    const { agentIds, group } = await placeGroup(client, ['edge-1', 'edge-2'])
    const red = await client.expect(201, 'POST', '/organizations', { name: 'red' })
    const password = 'long enough a word'
    const organization = { id: red['id'] }
    await client.expect(201, 'POST', '/accounts', { name: 'anna', password, organization })
    const [agentId = 0] = agentIds
    await client.service.store.queries
      .updateTable('agents')
      .set({ organizationId: Number(red['id']) })
      .where('id', '=', agentId)
      .execute()
    const headers = { authorization: basic('anna', password) }
    const login = await client.call('POST', '/api/v1/auth/login', { headers, body: { org: 'red' } })

    const refused = await client.call('PUT', `/api/v1/agents/${agentId}`, {
      token: String(login.body['accessToken']),
      body: { tags: [] },
    })

    t.match(refused, { status: 409, body: { errorMsg: /one of the system administrator's/ } })
    t.notMatch(refused.text, `"${String(group['name'])}"`)
  },
)
