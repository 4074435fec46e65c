/** Caches in the console: what they are called, who changes and asks them; the agent's session is played (choices: 6). */
import t, { type Test } from 'tap'
import { agentRevokedSubject } from '../../../src/bus/bus.js'
import { resourceRoutes } from '../../../src/coordinator/controller/resources.js'
import { agentStates } from '../../../src/domain/agent-state.js'
import { toObjectId } from '../../../src/domain/object-id.js'
import { eventually } from '../../support/eventually.js'
import { enrol, type EnrolOptions } from '../controller/client.js'
import { done, playSession } from '../controller/played-session.js'
import { startConsole, type ConsoleCall, type ConsoleClient } from './console-client.js'

const password = 'long enough a word'

interface Stand extends ConsoleClient {
  /** A cache's path; its agent is enrolled without a link. */
  readonly join: (name: string, options?: EnrolOptions) => Promise<{ id: number; at: string }>
  /** Fails the test unless it is answered so. */
  readonly expect: (
    status: number,
    method: string,
    path: string,
    call?: ConsoleCall,
  ) => Promise<Record<string, unknown>>
}

async function startStand(t: Test): Promise<Stand> {
  const console = await startConsole(t, { resources: resourceRoutes })
  return {
    ...console,
    join: async (name, options) => {
      const id = await enrol(console.controller, name, options)
      return { id, at: `/v1/cache/${toObjectId('cache', id)}` }
    },
    expect: async (status, method, path, call) => {
      const answer = await console.call(method, path, call)
      t.equal(answer.status, status, `${method} ${path}: ${answer.text.slice(0, 300)}`)
      return answer.body
    },
  }
}

/** An organization with its administrator, who calls the console as this. */
async function makeOrganization({ controller }: Stand, name: string) {
  const token = await controller.login()
  const make = async (path: string, body: object) =>
    Number((await controller.call('POST', `/api/v1${path}`, { token, body })).body['id'])
  const id = await make('/organizations', { name })
  await make('/accounts', { name: `${name}-admin`, password, organization: { id } })
  return { id, as: `${name}-admin:${password}` }
}

void t.test('a cache is named by its machine, its port and its folder', async (t) => {
  const { join, expect } = await startStand(t)
  const engine = { host: '127.0.0.1', port: 80, version: '7.1.1', workingDirectory: '/run/v' }
  const description = { engine: { ...engine, revision: '7cee1c5' }, hostName: 'web7' }
  const { id, at } = await join('edge-1', { description })
  const cache = await expect(200, 'GET', at)
  t.same(
    { ...cache, created: '', timestamp: '', version: '' },
    {
      ...{ id: toObjectId('cache', id), name: 'web7:80_/run/v', description: '' },
      ...{ agentHost: 'web7', agentPort: 80, dash_n: '/run/v' },
      ...{ agentUsername: 'edge-1', agentPassword: '********', agentId: id, agentName: 'edge-1' },
      ...{ groupId: null, groupName: 'default', status: 'running' },
      ...{ engineName: 'varnish', engineRevision: '7cee1c5', engineVersion: '7.1.1' },
      ...{ created: '', timestamp: '', version: '' },
    },
  )
  t.same(await expect(200, 'GET', '/v1/cache'), { caches: [cache] })
  const older = await join('edge-2')
  t.match(await expect(200, 'GET', older.at), { name: '10.0.0.1:6081_edge-2', engineRevision: '' })
})

void t.test('PATCH merges name and description, and ignores all else', async (t) => {
  const { join, expect } = await startStand(t)
  const { at } = await join('edge-1')
  const before = await expect(200, 'GET', at)
  const text = `{"description":"first rack","name":"ours","groupId":"x","agentPassword":"hunter2",
    "id":"x","created":"never","nonsense":{"a":1},"__proto__":{"polluted":1},"engineVersion":"0"}`
  const patched = await expect(200, 'PATCH', at, { text })
  t.same(patched, {
    ...before,
    name: 'ours',
    description: 'first rack',
    timestamp: patched['timestamp'],
  })
  t.match(await expect(200, 'PATCH', at, { body: { name: 'other' } }), {
    name: 'other',
    description: 'first rack',
  })
  t.match(await expect(200, 'PATCH', at, { body: {} }), { name: 'other' })
  t.match(await expect(200, 'PATCH', at, { body: { name: null } }), { name: before['name'] })
  for (const body of [{ name: '' }, { name: 7 }, { name: 'a\nb' }, { name: 'x'.repeat(256) }])
    t.match(await expect(400, 'PATCH', at, { body }), { message: /name/ })
  for (const description of [5, null, 'x'.repeat(4097)])
    t.match(await expect(400, 'PATCH', at, { body: { description } }), { message: /description/ })
  await expect(415, 'PATCH', at, { text: 'name=x', type: 'application/x-www-form-urlencoded' })
})

void t.test('DELETE forgets the agent and revokes its key', async (t) => {
  const { join, expect, controller } = await startStand(t)
  const { id, at } = await join('edge-1')
  const revoked: unknown[] = []
  controller.service.bus.subscribe(agentRevokedSubject, (hint) => revoked.push(hint))
  await expect(204, 'DELETE', at)
  t.same(await expect(404, 'GET', at), { message: `${at.slice(10)} was not found` })
  await eventually('the revocation', () => revoked.length === 1)
  t.same(revoked, [{ agentIds: [id] }])
})

void t.test('an organization changes its own caches, and reads the shared ones', async (t) => {
  const stand = await startStand(t)
  const { join, expect, controller } = stand
  const [red, blue] = [await makeOrganization(stand, 'red'), await makeOrganization(stand, 'blue')]
  const own = await join('own', { organizationId: red.id })
  const shared = await join('shared')
  const names = async (as: string) => {
    const { caches } = await expect(200, 'GET', '/v1/cache', { as })
    return (caches as Record<string, unknown>[]).map((cache) => cache['agentName']) // of its schema
  }
  t.same(await names(red.as), ['own', 'shared'])
  t.same(await names(blue.as), ['shared'])
  await expect(404, 'GET', own.at, { as: blue.as })
  await expect(404, 'PATCH', own.at, { as: blue.as, body: { name: 'x' } })
  await expect(200, 'PATCH', own.at, { as: red.as, body: { name: 'x' } })

  const asked = playSession(t, controller, shared.id, () => done('said'))
  for (const [method, path, body] of changes)
    await expect(403, method, `${shared.at}${path}`, { as: red.as, body })
  t.same(asked, [], 'nothing of it reached the agent')
})

const changes: readonly (readonly [string, string, unknown])[] = [
  ['PATCH', '', { name: 'x' }],
  ['DELETE', '', undefined],
  ['PUT', '/params/default_ttl', { value: '1' }],
  ['DELETE', '/params/default_ttl', undefined],
  ['PUT', '/setbackend/default/sick', undefined],
  ['POST', '/engineadm', { command: 'ping' }],
]

void t.test('users see the caches of their groups only; who reads changes nothing', async (t) => {
  const stand = await startStand(t)
  const { join, expect, controller } = stand
  const red = await makeOrganization(stand, 'red')
  const { id, at } = await join('own', { organizationId: red.id })
  playSession(t, controller, id, () => done('said'))
  const { queries } = controller.service.store
  for (const [name, role] of [
    ['una', 'User'],
    ['rea', 'ReadOnly'],
  ] as const) {
    const { body } = await controller.call('POST', '/api/v1/accounts', {
      token: await controller.login(),
      body: { name, password },
    })
    const place = { accountId: Number(body['id']), organizationId: red.id }
    const times = { createdAt: 0, updatedAt: 0 }
    await queries
      .insertInto('consoleUsers')
      .values({ ...place, role, ...times })
      .execute()
    const as = `${name}:${password}`
    t.same(await expect(200, 'GET', '/v1/cache', { as }), { caches: [] })
    for (const path of ['', '/status', '/params', '/consistency', '/backends', '/bans'])
      await expect(404, 'GET', `${at}${path}`, { as })
    for (const [method, path, body] of changes)
      await expect(
        role === 'User' && !(method === 'DELETE' && path === '') ? 404 : 403,
        method,
        `${at}${path}`,
        { as, body },
      )
  }
})

void t.test('a cache that cannot be asked is told of with 503 inside of 200', async (t) => {
  const { join, expect, controller } = await startStand(t)
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

  const asked = playSession(t, controller, id, () => ({ ...done(null), result: 'timed-out' }))
  t.match(await expect(200, 'GET', `${at}/status`), {
    responseStatus: 503,
    responseString: 'agent edge-1 did not answer within 8000 ms',
  })
  const askedBefore = asked.length
  await controller.service.store.queries
    .updateTable('agents')
    .set({ state: agentStates.Down })
    .where('id', '=', id)
    .execute()
  t.match(await expect(200, 'GET', `${at}/status`), { responseStatus: 503, responseString: /Down/ })
  t.equal(asked.length, askedBefore, 'one that is Down is not asked')
})

void t.test('what an agent of another version answers is checked', async (t) => {
  const { join, expect, controller } = await startStand(t)
  const { id, at } = await join('edge-1')
  playSession(t, controller, id, () => done([{ odd: 1 }]))
  t.match(await expect(200, 'GET', `${at}/status`), {
    responseStatus: 503,
    responseString: /form that is not known/,
  })
  t.match(await expect(503, 'GET', `${at}/backends`), { message: /form that is not known/ })
})

void t.test('a command is text or JSON, and one of the allowed ones', async (t) => {
  const { join, expect, controller } = await startStand(t)
  const { id, at } = await join('edge-1')
  const asked = playSession(t, controller, id, ({ question }) =>
    done(question.kind === 'command' ? `said ${question.line}` : null),
  )
  const path = `${at}/engineadm`
  for (const call of [
    { text: 'ping\n', type: 'text/plain' },
    { text: 'ping', type: 'text/plain; charset=utf-8' },
    { body: { command: 'ping', more: 1 } },
  ])
    t.same(await expect(200, 'POST', path, call), { message: 'said ping' })
  t.equal(asked.length, 3)
  for (const command of ['stop', 'ping\nping', 'x << y', '', 'param.set cc_command x']) {
    await expect(400, 'POST', path, { text: command, type: 'text/plain' })
    await expect(400, 'POST', path, { body: { command } })
  }
  for (const body of [{}, { command: ['ping'] }, { command: 'a\0b' }, []])
    await expect(400, 'POST', path, { body })
  await expect(400, 'POST', path)
  await expect(415, 'POST', path, { text: '<a/>', type: 'application/xml' })
  await expect(405, 'GET', path)
  t.equal(asked.length, 3, 'what is refused never reaches the agent')
})
