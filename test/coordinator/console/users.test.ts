/** The users of the console: the controller's accounts, with a role in one organization (docs/behaviour.md, Console users). */
import t, { type Test } from 'tap'
import { resourceRoutes } from '../../../src/coordinator/controller/resources.js'
import { toObjectId } from '../../../src/resources/object-id.js'
import { idOf, password, rows, type Json } from '../identity/people.js'
import { root, startConsole, type ConsoleClient } from './console-client.js'

interface Office extends ConsoleClient {
  /** Calls the controller as the system administrator. */
  readonly fleet: (method: string, path: string, body?: unknown) => Promise<Json>
  /** Creates an organization with the administrator `<name>-boss` and a root group; returns the id of the group. */
  readonly makeOrganization: (name: string) => Promise<string>
  readonly as: (name: string) => string
}

async function start(t: Test): Promise<Office> {
  const client = await startConsole(t, { resources: resourceRoutes })
  const { controller } = client
  const token = await controller.login()
  const fleet: Office['fleet'] = async (method, path, body) => {
    const answer = await controller.call(method, `/api/v1${path}`, { token, body })
    if (answer.status >= 300) t.fail(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.text === '' ? {} : (JSON.parse(answer.text) as Json) // objects and arrays
  }
  const makeOrganization: Office['makeOrganization'] = async (name) => {
    const organization = { id: idOf(await fleet('POST', '/organizations', { name })) }
    await fleet('POST', '/accounts', { name: `${name}-boss`, password, organization })
    return makeGroup(fleet, name, organization)
  }
  return { ...client, fleet, makeOrganization, as: (name) => `${name}:${password}` }
}

async function makeGroup(
  fleet: Office['fleet'],
  name: string,
  organization: { readonly id: number } | null,
): Promise<string> {
  const file = {
    id: idOf(await fleet('POST', '/files', { name, source: 'vcl 4.1;', organization })),
  }
  const group = { name, mainVCL: file, organization }
  return toObjectId('group', idOf(await fleet('POST', '/vclgroups', group)))
}

void t.test('an Admin creates users with groups; no answer contains a password', async (t) => {
  const { call, makeOrganization, as } = await start(t)
  const group = await makeOrganization('red')
  const boss = as('red-boss')
  const body = { username: 'uma', password, role: 'User', groups: [group], unknown: 1 }
  const made = await call('POST', '/v1/user', { as: boss, body })
  t.equal(made.status, 201, made.text)
  t.match(made.body, { username: 'uma', role: 'User', groups: [group], id: /^[0-9a-f]{24}$/ })
  const list = await call('GET', '/v1/user', { as: boss })
  t.same(namesIn(list.body), ['red-boss', 'uma'])
  t.same(namesIn((await call('GET', '/v1/user/2/1', { as: boss })).body), ['uma'])
  t.notMatch(`${made.text}${list.text}`, /argon2|long enough/)
  t.match((await call('POST', '/rest/login', login('uma'))).body, { username: 'uma', role: 'User' })
  t.same(
    namesIn((await call('GET', '/v1/user', { as: as('uma') })).body),
    ['uma'],
    'a user sees itself',
  )
})

void t.test(
  'users, groups and branches count towards the quotas of the organization',
  async (t) => {
    const { call, fleet, makeOrganization, as } = await start(t)
    for (const name of ['red', 'blue']) await makeOrganization(name)
    const [red] = rows(await fleet('GET', '/organizations?name=red'))
    const quotas = { accounts: 1, vclgroups: 1, files: 1 }
    await fleet('PUT', `/organizations/${idOf(red)}`, { quotas })
    const asked = [
      ['/v1/user', { username: 'uma', password, role: 'ReadOnly' }],
      ['/v1/group', { name: 'more' }],
      ['/v1/vcl', { name: 'more', content: 'vcl 4.1;' }],
    ] as const
    for (const [path, body] of asked) {
      const refused = await call('POST', path, { as: as('red-boss'), body })
      t.equal(refused.status, 409, path)
      t.match(refused.text, /organization \\"red\\" has its quota of 1 (accounts|VCL groups|files)/)
      t.equal((await call('POST', path, { as: as('blue-boss'), body })).status, 201, path)
    }
  },
)

void t.test('invalid bodies are refused with the reason', async (t) => {
  const { call, makeOrganization, as } = await start(t)
  await makeOrganization('red')
  const foreign = await makeOrganization('blue')
  const right = { username: 'uma', password, role: 'User' }
  const nobody = toObjectId('group', 987_654)
  for (const [wrong, status, message] of [
    [{ password: 'short' }, 400, /password has 5 characters/],
    [{ password: 'x' }, 400, /password has 1 character;/],
    [{ username: 'a:b' }, 400, /colon/],
    [{ role: 'Boss' }, 400, /role/],
    [{ groups: [foreign] }, 400, /groups: .* was not found/],
    [{ groups: [nobody] }, 400, /groups: .* was not found/],
    [{ groups: ['7'] }, 400, /groups: 7 was not found/],
    [{ role: 'Admin', groups: [nobody] }, 400, /sees all/],
    [{ password: undefined }, 400, /password is missing/],
    [{ username: 'blue-boss' }, 409, /taken/],
    [{ username: 'blue-boss', password: undefined }, 400, /password is missing/],
    [{ username: 'red-boss', password: undefined }, 409, /already/],
  ] as const) {
    const body = { ...right, ...wrong }
    const answer = await call('POST', '/v1/user', { as: as('red-boss'), body })
    t.equal(answer.status, status, JSON.stringify(wrong))
    t.match(answer.body['message'], message)
  }
  const admin = await call('POST', '/v1/user', { body: { ...right, role: 'Admin' } })
  t.match(admin, { status: 400, body: { message: /cachefleetd admin add/ } })
  t.same(namesIn((await call('GET', '/v1/user', { as: as('red-boss') })).body), ['red-boss'])
})

void t.test('POST without a password gives a role to an existing account', async (t) => {
  const { call, fleet, makeOrganization, as } = await start(t)
  const group = await makeOrganization('red')
  const [organization] = rows(await fleet('GET', '/organizations?name=red'))
  await fleet('POST', '/accounts', { name: 'reg', password, organization })
  t.same(namesIn((await call('GET', '/v1/user', { as: as('red-boss') })).body), ['red-boss'])
  const body = { username: 'reg', role: 'ReadOnly', groups: [group] }
  t.equal((await call('POST', '/v1/user', { as: as('red-boss'), body })).status, 201)
  t.match((await call('GET', '/v1/user', { as: as('reg') })).body, { list: [{ role: 'ReadOnly' }] })
  const again = await call('POST', '/v1/user', { as: as('red-boss'), body })
  t.match(again, { status: 409, body: { message: /already/ } })
})

void t.test(
  'roles can be raised and lowered, except the own role and the role of the last Admin',
  async (t) => {
    const { call, fleet, makeOrganization, as } = await start(t)
    const group = await makeOrganization('red')
    const boss = as('red-boss')
    const patch = (id: unknown, body: Json, who = boss) =>
      call('PATCH', `/v1/user/${String(id)}`, { as: who, body })
    const body = { username: 'uma', password, role: 'User', groups: [group] }
    const { id } = (await call('POST', '/v1/user', { as: boss, body })).body
    t.match((await patch(id, { role: 'ReadOnly' })).body, { role: 'ReadOnly', groups: [group] })
    t.match((await patch(id, { groups: [] })).body, { role: 'ReadOnly', groups: [] })
    t.match((await patch(id, { role: 'Admin' })).body, { role: 'Admin', groups: [] })
    const [user] = rows(await fleet('GET', '/users?account.name=uma'))
    t.equal(user?.['role'], 'administrator', 'it is an administrator in the controller too')

    const self = (await call('GET', '/v1/user', { as: boss })).body['list'] as Json[] // of users
    const own = self.find(({ username }) => username === 'red-boss')?.['id']
    t.match(await patch(own, { role: 'User' }), { status: 409, body: { message: /own role/ } })
    t.equal((await call('DELETE', `/v1/user/${String(own)}`, { as: boss })).status, 409)
    t.equal((await patch(own, { role: 'User' }, as('uma'))).status, 200, 'another Admin may do it')
    const last = await patch(id, { role: 'User' }, root)
    t.match(last, { status: 409, body: { message: /last administrator/ } })
    t.equal((await call('DELETE', `/v1/user/${String(id)}`)).status, 409)
    t.equal((await patch(id, { role: 'User' }, boss)).status, 404, 'it is no longer an Admin')
  },
)

void t.test('users change only their own password and email address', async (t) => {
  const { call, makeOrganization, login, as } = await start(t)
  const group = await makeOrganization('red')
  const boss = as('red-boss')
  const make = async (username: string, role: string): Promise<string> => {
    const body = { username, password, role, groups: [group] }
    return String((await call('POST', '/v1/user', { as: boss, body })).body['id'])
  }
  const id = await make('rita', 'ReadOnly')
  const other = await make('uma', 'User')
  const cookie = await login('rita', password)
  const patch = (body: Json, of = id, who = as('rita')) =>
    call('PATCH', `/v1/user/${of}`, { as: who, body })
  t.equal((await patch({ role: 'Admin' })).status, 403)
  t.equal((await patch({ groups: [] })).status, 403)
  t.equal((await patch({ password: 'another long one' }, other)).status, 404)
  t.equal((await patch({ password: 'short' })).status, 400)
  const same = { email: 'rita@example.com', role: 'ReadOnly', groups: [group] }
  t.match(await patch(same), { status: 200, body: { email: 'rita@example.com' } })
  t.equal((await patch({ password: 'another long one' })).status, 200)
  t.equal((await call('GET', '/v1/user', { as: as('rita') })).status, 401)
  t.equal((await call('GET', '/v1/user', { as: null, cookie })).status, 401, 'its sessions end')
  t.equal((await call('GET', '/v1/user', { as: 'rita:another long one' })).status, 200)
  t.equal((await patch({ password }, id, boss)).status, 200, 'an Admin may set it')
  t.equal((await call('GET', '/v1/user', { as: as('rita') })).status, 200)
})

void t.test('a deleted user loses access at once; an account still in use stays', async (t) => {
  const { call, fleet, login, makeOrganization, as } = await start(t)
  await makeOrganization('red')
  const boss = as('red-boss')
  const body = { username: 'uma', password, role: 'User' }
  const { id } = (await call('POST', '/v1/user', { as: boss, body })).body
  const cookie = await login('uma', password)
  t.equal((await call('GET', '/v1/cache', { as: null, cookie })).status, 200)
  t.equal((await call('GET', '/v1/cache', { as: as('uma') })).status, 200)
  t.equal((await call('DELETE', `/v1/user/${String(id)}`, { as: boss })).status, 204)
  t.equal((await call('GET', '/v1/cache', { as: null, cookie })).status, 401)
  t.equal((await call('GET', '/v1/cache', { as: as('uma') })).status, 401)
  t.equal((await call('GET', `/v1/user/${String(id)}`, { as: boss })).status, 404)
  t.same(await fleet('GET', '/accounts?name=uma'), [])

  const [organization] = rows(await fleet('GET', '/organizations?name=red'))
  await fleet('POST', '/accounts', { name: 'reg', password, organization })
  const given = { username: 'reg', role: 'User' }
  const reg = await call('POST', '/v1/user', { as: boss, body: given })
  await call('DELETE', `/v1/user/${String(reg.body['id'])}`, { as: boss })
  t.equal(rows(await fleet('GET', '/accounts?name=reg')).length, 1)
  t.equal((await call('GET', `/v1/user/${String(reg.body['id'])}`, { as: boss })).status, 404)
})

void t.test('an account that leaves the organization loses its console access', async (t) => {
  const { call, fleet, makeOrganization, as } = await start(t)
  const group = await makeOrganization('red')
  const [organization] = rows(await fleet('GET', '/organizations?name=red'))
  const account = await fleet('POST', '/accounts', { name: 'reg', password, organization })
  const body = { username: 'reg', role: 'User', groups: [group] }
  await call('POST', '/v1/user', { as: as('red-boss'), body })
  t.equal((await call('GET', '/v1/cache', { as: as('reg') })).status, 200)
  await fleet('PUT', `/organizations/${idOf(organization)}/unassign`, { account })
  t.equal((await call('GET', '/v1/cache', { as: as('reg') })).status, 401)
})

void t.test('the system administrator has own users and sees all users', async (t) => {
  const { call, fleet, makeOrganization, as } = await start(t)
  const foreign = await makeOrganization('red')
  const group = await makeGroup(fleet, 'own', null)
  const body = { username: 'uma', password, role: 'User', groups: [group] }
  const refused = await call('POST', '/v1/user', { body: { ...body, groups: [foreign] } })
  t.equal(refused.status, 400)
  const made = await call('POST', '/v1/user', { body })
  t.match(made, { status: 201, body: { role: 'User', groups: [group] } })
  t.same(namesIn((await call('GET', '/v1/user')).body), ['root', 'red-boss', 'uma'])
  t.same(namesIn((await call('GET', '/v1/user', { as: as('uma') })).body), ['uma'])
  t.same(namesIn((await call('GET', '/v1/user', { as: as('red-boss') })).body), ['red-boss'])
  const id = String(made.body['id'])
  t.equal((await call('GET', `/v1/user/${id}`, { as: as('red-boss') })).status, 404)
  const admin = await call('PATCH', `/v1/user/${id}`, { body: { role: 'Admin' } })
  t.match(admin, { status: 400, body: { message: /cachefleetd admin add/ } })
  const boss = toObjectId('user', idOf(rows(await fleet('GET', '/accounts?name=red-boss'))[0]))
  const joining = { username: 'red-boss', role: 'User' }
  t.equal((await call('POST', '/v1/user', { body: joining })).status, 409)
  t.equal(
    (await call('PATCH', `/v1/user/${boss}`, { body: { email: 'b@example.com' } })).status,
    200,
  )
  t.equal((await call('DELETE', `/v1/user/${id}`)).status, 204)
  t.equal((await call('GET', '/v1/cache', { as: as('uma') })).status, 401)
})

function namesIn(body: Json): unknown[] {
  return rows(body['list']).map(({ username }) => username)
}

function login(username: string) {
  const text = new URLSearchParams({ username, password }).toString()
  return { as: null, text, type: 'application/x-www-form-urlencoded' }
}
