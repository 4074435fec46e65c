/** Caches in the console: names, changes and commands; the agent's session is simulated (docs/behaviour.md, Console caches). */
import t, { type Test } from 'tap'
import { agentRevokedSubject } from '../../../src/coordinator/bus/subjects.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import { toObjectId } from '../../../src/resources/object-id.js'
import { eventually } from '../../support/eventually.js'
import { enrol, type EnrolOptions, type Json } from '../controller/client.js'
import { addAgent } from '../store/rows.js'
import { done, playSession } from '../controller/played-session.js'
import { root, type ConsoleCall } from './console-client.js'
import { startFixture, type Fixture } from './group-fixture.js'

interface Harness extends Fixture {
  /** A cache and its path; its agent is enrolled without a link. */
  readonly join: (name: string, options?: EnrolOptions) => Promise<{ id: number; at: string }>
  /** Fails the test unless the call is refused with this status; returns the message. */
  readonly refuse: (
    status: number,
    method: string,
    path: string,
    call?: ConsoleCall,
  ) => Promise<unknown>
}

async function startHarness(t: Test): Promise<Harness> {
  const fixture = await startFixture(t)
  return {
    ...fixture,
    join: async (name, options) => {
      const id = await enrol(fixture.controller, name, options)
      return { id, at: `/v1/cache/${toObjectId('cache', id)}` }
    },
    refuse: async (status, method, path, call) => {
      const answer = await fixture.call(method, path, call)
      t.equal(answer.status, status, `${method} ${path}: ${answer.text.slice(0, 300)}`)
      return answer.body['message']
    },
  }
}

void t.test('the name of a cache is made of its host, port and working directory', async (t) => {
  const { join, expect } = await startHarness(t)
  const engine = { host: '127.0.0.1', port: 80, version: '7.1.1', workingDirectory: '/run/v' }
  const description = {
    engine: { ...engine, product: 'vinyl', revision: '7cee1c5' },
    hostName: 'web7',
  }
  const { id, at } = await join('edge-1', { description })
  const cache = await expect(200, 'GET', at)
  t.same(
    { ...cache, created: '', timestamp: '', version: '' },
    {
      id: toObjectId('cache', id),
      name: 'web7:80_/run/v',
      description: '',
      agentHost: 'web7',
      agentPort: 80,
      dash_n: '/run/v',
      agentUsername: 'edge-1',
      agentPassword: '********',
      agentId: id,
      agentName: 'edge-1',
      groupId: null,
      groupName: 'default',
      status: 'running',
      engineName: 'vinyl',
      engineRevision: '7cee1c5',
      engineVersion: '7.1.1',
      created: '',
      timestamp: '',
      version: '',
    },
  )
  t.same(await expect(200, 'GET', '/v1/cache'), { caches: [cache] })
  const older = await join('edge-2')
  t.match(await expect(200, 'GET', older.at), { name: '10.0.0.1:6081_edge-2', engineRevision: '' })
})

void t.test('PATCH merges name and description, and ignores other fields', async (t) => {
  const { join, expect, refuse, call } = await startHarness(t)
  const { at } = await join('edge-1')
  const before = await expect(200, 'GET', at)
  const text = `{"description":"first rack","name":"ours","groupId":"x","agentPassword":"hunter2",
    "id":"x","created":"never","nonsense":{"a":1},"__proto__":{"polluted":1},"engineVersion":"0"}`
  const { body: patched } = await call('PATCH', at, { text })
  t.same(patched, {
    ...before,
    name: 'ours',
    description: 'first rack',
    timestamp: patched['timestamp'],
  })
  t.match(await expect(200, 'PATCH', at, { name: 'other' }), {
    name: 'other',
    description: 'first rack',
  })
  t.match(await expect(200, 'PATCH', at, {}), { name: 'other' })
  t.match(await expect(200, 'PATCH', at, { name: null }), { name: before['name'] })
  for (const name of ['', 7, 'a\nb', 'x'.repeat(256)])
    t.match(await refuse(400, 'PATCH', at, { body: { name } }), /name/)
  for (const description of [5, null, 'x'.repeat(4097)])
    t.match(await refuse(400, 'PATCH', at, { body: { description } }), /description/)
  await refuse(415, 'PATCH', at, { text: 'name=x', type: 'application/x-www-form-urlencoded' })
})

void t.test('DELETE removes the agent and revokes its key', async (t) => {
  const { join, expect, service } = await startHarness(t)
  const { id, at } = await join('edge-1')
  const revoked: unknown[] = []
  service.bus.subscribe(agentRevokedSubject, (hint) => revoked.push(hint))
  await expect(204, 'DELETE', at)
  t.same(await expect(404, 'GET', at), { message: `${at.slice(10)} was not found` })
  await eventually('the revocation is published', () => revoked.length === 1)
  t.same(revoked, [{ agentIds: [id] }])
})

const changes: readonly (readonly [string, string, unknown])[] = [
  ['PATCH', '', { name: 'x' }],
  ['DELETE', '', undefined],
  ['PUT', '/params/default_ttl', { value: '1' }],
  ['DELETE', '/params/default_ttl', undefined],
  ['PUT', '/setbackend/default/sick', undefined],
  ['POST', '/engineadm', { command: 'ping' }],
]

const readings = ['', '/status', '/params', '/consistency', '/backends', '/bans']

void t.test('an organization changes its own caches and reads shared ones', async (t) => {
  const harness = await startHarness(t)
  const { join, as, refuse, makeOrganization } = harness
  const [red, blue] = [await makeOrganization('red'), await makeOrganization('blue')]
  const own = await join('own', { organizationId: red.id })
  const shared = await join('shared')
  t.same(await listNames(harness, red.boss), ['own', 'shared'])
  t.same(await listNames(harness, blue.boss), ['shared'])
  await refuse(404, 'GET', own.at, { as: blue.boss })
  await refuse(404, 'PATCH', own.at, { as: blue.boss, body: { name: 'x' } })
  await as(red.boss)(200, 'PATCH', own.at, { name: 'x' })

  const asked = playSession(t, harness, shared.id, () => done('said'))
  for (const [method, path, body] of changes)
    await refuse(403, method, `${shared.at}${path}`, { as: red.boss, body })
  t.same(asked, [], 'no call was sent to the agent')
})

void t.test('users see only the caches of their groups; readers change nothing', async (t) => {
  const harness = await startHarness(t)
  const { join, as, refuse, makeGroup, makeUser } = harness
  const red = await harness.makeOrganization('red')
  const own = await join('own', { organizationId: red.id })
  const other = await join('other', { organizationId: red.id })
  const group = await makeGroup('site', red.boss)
  await as(red.boss)(204, 'PUT', `${group.path}/cache/${own.at.slice(10)}`)
  for (const { id } of [own, other]) playSession(t, harness, id, () => done('said'))
  for (const role of ['User', 'ReadOnly'] as const) {
    const who = await makeUser(role, { organizationId: red.id, role, groups: [group] })
    t.same(await listNames(harness, who), ['own'])
    t.same((await as(who)(200, 'GET', '/v1/cache/1/5'))['list'], [
      await as(who)(200, 'GET', own.at),
    ])
    t.match(await as(who)(200, 'GET', own.at), {
      groupId: group.id,
      groupName: 'site',
    })
    t.same(await as(who)(200, 'GET', '/v1/cache/2/1'), { list: [] })
    for (const path of readings) await refuse(404, 'GET', `${other.at}${path}`, { as: who })
    for (const [method, path, body] of changes) {
      const isForAdmins = method === 'DELETE' && path === ''
      const hidden = role === 'User' && !isForAdmins ? 404 : 403
      await refuse(hidden, method, `${other.at}${path}`, { as: who, body })
      if (hidden === 403) await refuse(403, method, `${own.at}${path}`, { as: who, body })
    }
  }
  const user = await makeUser('una', { organizationId: red.id, role: 'User', groups: [group] })
  t.match(await as(user)(200, 'PATCH', own.at, { description: 'by una' }), {
    description: 'by una',
  })
  t.same(await as(user)(200, 'POST', `${own.at}/engineadm`, { command: 'ping' }), {
    message: 'said',
  })
  const nobody = await makeUser('rea', { organizationId: null, role: 'ReadOnly', groups: [] })
  t.same(await listNames(harness, nobody), [], 'a user without groups sees no caches')
  await refuse(404, 'GET', own.at, { as: nobody })
})

void t.test('a long list is complete and in order', async (t) => {
  const harness = await startHarness(t)
  const names = Array.from({ length: 130 }, (_, index) => `edge-${1000 + index}`)
  for (const name of names) await addAgent(harness.service.store.queries, name)
  t.same(await listNames(harness), names)
  const pages = []
  for (const page of [1, 2, 3]) {
    const { list } = await harness.expect(200, 'GET', `/v1/cache/${page}/60`)
    pages.push(...(list as Json[]).map((cache) => cache['agentName'])) // as in its schema
  }
  t.same(pages, names)
})

async function listNames({ as }: Fixture, who = root): Promise<unknown[]> {
  const { caches } = await as(who)(200, 'GET', '/v1/cache')
  return (caches as Json[]).map((cache) => cache['agentName']) // as in its schema
}

void t.test('an unreachable cache is reported as 503 inside a 200 answer', async (t) => {
  const harness = await startHarness(t)
  const { join, expect } = harness
  const { id, at } = await join('edge-1')
  const nothing = { ping: '', status: '', panic: '', paramChangeset: {}, vclList: { vcls: [] } }
  const untold = { vcl_name: '', param_changeset: {}, vcl_consistent: false }
  for (const path of ['status', 'summary'])
    t.same(await expect(200, 'GET', `${at}/${path}`), {
      responseStatus: 503,
      responseString: 'agent edge-1 is not connected',
      ...nothing,
    })
  t.match(await expect(200, 'GET', `${at}/consistency`), { responseStatus: 503, ...untold })

  const asked = playSession(t, harness, id, () => ({ ...done(null), result: 'timed-out' }))
  t.match(await expect(200, 'GET', `${at}/status`), {
    responseStatus: 503,
    responseString: 'agent edge-1 did not answer within 8000 ms',
  })
  // It is answered with the first failure; the last of its questions may come after that.
  await eventually('all of its questions came', () => asked.length === 5)
  const askedBefore = asked.length
  await harness.service.store.queries
    .updateTable('agents')
    .set({ state: agentStates.Down })
    .where('id', '=', id)
    .execute()
  t.match(await expect(200, 'GET', `${at}/status`), { responseStatus: 503, responseString: /Down/ })
  t.equal(asked.length, askedBefore, 'an agent that is Down is not asked')
})

void t.test('a command is text or JSON, and must be allowed', async (t) => {
  const harness = await startHarness(t)
  const { join, refuse, call } = harness
  const { id, at } = await join('edge-1')
  const asked = playSession(t, harness, id, ({ question }) =>
    done(question.kind === 'command' ? `said ${question.line}` : null),
  )
  const path = `${at}/engineadm`
  for (const given of [
    { text: 'ping\n', type: 'text/plain' },
    { text: 'ping', type: 'text/plain; charset=utf-8' },
    { body: { command: 'ping', more: 1 } },
  ])
    t.same((await call('POST', path, given)).body, { message: 'said ping' })
  t.equal(asked.length, 3)
  for (const command of ['stop', 'ping\nping', 'x << y', '', 'param.set cc_command x']) {
    await refuse(400, 'POST', path, { text: command, type: 'text/plain' })
    await refuse(400, 'POST', path, { body: { command } })
  }
  for (const body of [{}, { command: ['ping'] }, { command: 'a\0b' }, []])
    await refuse(400, 'POST', path, { body })
  await refuse(400, 'POST', path)
  await refuse(415, 'POST', path, { text: '<a/>', type: 'application/xml' })
  await refuse(405, 'GET', path)
  t.equal(asked.length, 3, 'refused commands are not sent to the agent')
})
