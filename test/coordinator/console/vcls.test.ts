/** VCL branches of the console: create, list, change, delete, and permissions. */
import t from 'tap'
import { resourceRoutes } from '../../../src/coordinator/controller/resources.js'
import { parseObjectId, toObjectId } from '../../../src/resources/object-id.js'
import { addFile, addGroup } from '../store/rows.js'
import { branchesOf, makeGroupWith, vcl } from './branches.js'
import { startConsole } from './console-client.js'
import { startFixture } from './group-fixture.js'

const numberOf = (id: unknown) => parseObjectId('vcl', String(id)) ?? 0

void t.test(
  'a branch is created with its first commit, and is a file in the controller',
  async (t) => {
    const client = await startConsole(t, { resources: resourceRoutes })
    const { call, controller } = client
    const content = 'vcl 4.1;\r\n\tbackend default none; # ü\n\n'
    const body = { name: 'site', description: 'of the site', content, head: 'ignored' }
    const made = await call('POST', '/v1/vcl', { body })
    t.equal(made.status, 201)
    t.match(made.body, {
      id: /^b0[0-9a-f]{22}$/,
      name: 'site',
      description: 'of the site',
      content,
    })
    const head = await branchesOf(client).head(made.body['id'])
    t.match(head, { id: made.body['headCommitId'], content, head: true, committedByUser: 'root' })
    t.equal(head['branch'], made.body['id'])
    const token = await controller.login()
    const file = await controller.call('GET', `/api/v1/files/${numberOf(made.body['id'])}`, {
      token,
    })
    t.match(file.body, { name: 'site', source: content, fileType: 1, version: 1 })
    t.notOk('description' in file.body)
    t.equal((await call('POST', '/v1/vcl', { body })).status, 409, 'the name is taken')
  },
)

void t.test('branches can be listed (also by page), patched and deleted', async (t) => {
  const client = await startConsole(t)
  const { call, controller } = client
  const { make } = branchesOf(client)
  const [one, two] = [await make('one'), await make('two')]
  await addFile(controller.service.store.queries, 'made by the controller')
  const names = async (path: string) =>
    ((await call('GET', path)).body['list'] as { name: string }[]).map(({ name }) => name)
  t.same(await names('/v1/vcl'), ['one', 'two', 'made by the controller'])
  t.same(await names('/v1/vcl/2/1'), ['two'])
  t.same(await names('/v1/vcl/9/1'), [])
  t.equal((await call('GET', '/v1/vcl/1/0')).status, 400)

  const path = `/v1/vcl/${String(one['id'])}`
  const change = { description: 'new', content: 'vcl 4.1; # ignored', headCommitId: 'x' }
  const patched = await call('PATCH', path, { body: change })
  t.match(patched.body, { ...one, description: 'new', timestamp: String })
  t.equal((await call('PATCH', path, { body: { name: 'two' } })).status, 409)
  t.equal((await call('DELETE', path)).status, 204)
  t.equal((await call('GET', path)).status, 404)

  const busy = numberOf(two['id'])
  await addGroup(controller.service.store.queries, 'of the controller', busy)
  const refused = await call('DELETE', `/v1/vcl/${String(two['id'])}`)
  t.equal(refused.status, 409)
  t.match(refused.body['message'], /of the controller/)
})

void t.test('users other than Admins see and change the branches of their groups', async (t) => {
  const fixture = await startFixture(t)
  const { call, service } = fixture
  const { make } = branchesOf(fixture)
  const ids = new Map<string, unknown>()
  for (const name of ['own', 'shared', 'foreign', 'free']) ids.set(name, (await make(name))['id'])
  const groups = [
    await makeGroupWith(fixture, 'own', ids.get('own')),
    await makeGroupWith(fixture, 'own too', ids.get('shared')),
  ]
  await makeGroupWith(fixture, 'foreign', ids.get('foreign'))
  await addGroup(service.store.queries, 'of the controller', numberOf(ids.get('shared')))
  const user = await fixture.makeUser('anna', { organizationId: null, role: 'User', groups })
  const reader = await fixture.makeUser('rita', { organizationId: null, role: 'ReadOnly', groups })
  const seen = async (as: string) =>
    ((await call('GET', '/v1/vcl', { as })).body['list'] as { name: string }[]).map(
      ({ name }) => name,
    )
  t.same(await seen(user), ['own', 'shared', 'free'])
  t.same(await seen(reader), ['own', 'shared'])
  const push = async (as: string, id: unknown) => {
    const body = { content: vcl(as) }
    return (await call('POST', `/v1/vcl/${String(id)}/push`, { as, body })).status
  }
  const statuses = async (as: string) => Promise.all([...ids.values()].map((id) => push(as, id)))
  t.same(await statuses(user), [200, 403, 404, 200])
  t.same(await statuses(reader), [403, 403, 403, 403])
  const body = { name: 'new', content: vcl('new') }
  t.equal((await call('POST', '/v1/vcl', { as: user, body })).status, 201)
  t.same(await seen(user), ['own', 'shared', 'free', 'new'])
})

void t.test('branches and groups are hidden from other organizations', async (t) => {
  const fixture = await startFixture(t)
  const { call } = fixture
  const red = await fixture.makeOrganization('red')
  const blue = await fixture.makeOrganization('blue')
  const asBlue = fixture.as(blue.boss)
  const body = { name: 'site', content: vcl('red') }
  const made = await fixture.as(red.boss)(201, 'POST', '/v1/vcl', body)
  const path = `/v1/vcl/${String(made['id'])}`
  t.same((await call('GET', '/v1/vcl', { as: blue.boss })).body, { list: [] })
  const below = ['', '/head', '/history', `/commit/${String(made['headCommitId'])}`]
  for (const more of below) await asBlue(404, 'GET', `${path}${more}`)
  await asBlue(404, 'PATCH', path, {})
  await asBlue(404, 'DELETE', path)
  await asBlue(404, 'POST', `${path}/push`, { content: vcl('blue') })
  const own = await fixture.makeGroup('blue', blue.boss)
  const branch = `${own.path}${path.replace('/v1', '')}`
  await asBlue(404, 'PUT', branch)
  await asBlue(404, 'PUT', `${branch}/deploy`)
  await fixture.expect(409, 'PUT', branch) // the system administrator sees both organizations
  await fixture.expect(409, 'PUT', `${branch}/deploy`)
})

void t.test('a group has one branch, which can be assigned and removed', async (t) => {
  const fixture = await startFixture(t)
  const { expect } = fixture
  const { make } = branchesOf(fixture)
  const [one, two] = [await make('one'), await make('two')]
  const group = await makeGroupWith(fixture, 'edge', one['id'])
  const at = (branch: typeof one) => `${group.path}/vcl/${String(branch['id'])}`
  await expect(204, 'PUT', at(two))
  t.equal((await expect(200, 'GET', group.path))['activeVclId'], two['id'])
  await fixture.fleet(200, 'PUT', `/files/${numberOf(two['id'])}`, { fileType: 2 })
  await expect(200, 'GET', `/v1/vcl/${String(two['id'])}`) // the group still uses the branch
  await expect(409, 'DELETE', group.path)
  await expect(404, 'DELETE', at(one))
  await expect(204, 'DELETE', at(two))
  await expect(404, 'DELETE', `${group.path}/vcl/b00000000000000000000099`)
  t.equal((await expect(200, 'GET', group.path))['activeVclId'], null)

  const id = await addGroup(fixture.service.store.queries, 'controlled', numberOf(one['id']))
  const controlled = `/v1/group/${toObjectId('group', id)}/vcl/${String(one['id'])}`
  for (const [method, path] of [
    ['PUT', controlled],
    ['DELETE', controlled],
    ['PUT', `${controlled}/deploy`],
  ] as const)
    await expect(409, method, path)
})

void t.test('a deploy that waits for a cache is pending and can be withdrawn', async (t) => {
  const fixture = await startFixture(t)
  const { expect, fleet } = fixture
  const branch = await branchesOf(fixture).make('one')
  const group = await fixture.makeGroup('edge')
  const at = `${group.path}/vcl/${String(branch['id'])}`
  t.match(await expect(200, 'PUT', `${at}/deploy`), { success: false, deployData: [] })
  const waiting = await expect(200, 'GET', group.path)
  t.match(waiting, { activeVclId: null, deployedVclCommitId: null })
  const seen = () => fleet(200, 'GET', `/vclgroups/${group.number}`)
  t.match(await seen(), { console: true, deployed: true, wish: { pending: true } })

  await expect(204, 'DELETE', at)
  t.match(await seen(), { deployed: false, wish: null })
  await expect(404, 'DELETE', at)
  await expect(204, 'DELETE', group.path)
})
