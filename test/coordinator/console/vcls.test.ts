/** VCL branches of the console: made, listed, changed, deleted; their commits and pushes; who may what. */
import t from 'tap'
import { resourceRoutes } from '../../../src/coordinator/controller/resources.js'
import { parseObjectId } from '../../../src/domain/object-id.js'
import { addFile, addGroup } from '../../store/rows.js'
import { addCompilingCache, addConsoleGroup, branchesOf, vcl } from './branches.js'
import { startConsole } from './console-client.js'
import { addConsoleUser } from './console-users.js'

const numberOf = (id: unknown) => parseObjectId('vcl', String(id)) ?? 0

void t.test(
  'a branch is made with its first commit, and is a file of the controller',
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

void t.test('branches are listed, by page too; PATCH merges; DELETE', async (t) => {
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

void t.test('a push makes a new head, and an old commit is the head again', async (t) => {
  const client = await startConsole(t)
  const { make, push, head } = branchesOf(client)
  const { call } = client
  const { id, headCommitId: first } = await make('site')
  const second = await push(id, vcl('second'), first)
  t.match(second, { status: 200, body: { content: vcl('second'), head: true } })
  t.match(second.body['message'], /no group/)
  const third = await call('POST', `/v1/vcl/${String(id)}/push`, {
    body: { content: vcl('third') },
  })
  t.equal((await head(id))['id'], third.body['id'])

  const late = await push(id, vcl('late'), first)
  t.match(late, { status: 409, body: { message: /no longer the head/ } })
  t.equal((await head(id))['id'], third.body['id'], 'the head stays')

  const back = await call('POST', `/v1/vcl/${String(id)}/push/${String(first)}`)
  t.match(back, { status: 200, body: { id: first, content: vcl('first') } })
  t.equal((await head(id))['id'], first)
  const fourth = await push(id, vcl('fourth'), first)
  t.equal(fourth.status, 200)
  const same = await push(id, vcl('fourth'))
  t.equal(same.body['id'], fourth.body['id'], 'an equal text is no commit')

  const path = `/v1/vcl/${String(id)}`
  const list = (await call('GET', `${path}/history`)).body['list'] as Record<string, unknown>[]
  const ids = [fourth, third, second].map(({ body }) => body['id'])
  t.same(
    list.map((commit) => commit['id']),
    [...ids, first],
  )
  t.same(
    list.map((commit) => commit['head']),
    [true, false, false, false],
  )
  t.match((await call('GET', `${path}/history/2/1`)).body, { list: [{ id: ids[1] }] })
  const commit = await call('GET', `${path}/commit/${String(ids[1])}`)
  t.equal(commit.body['content'], vcl('third'))
})

void t.test('a push without sense is refused, and moves nothing', async (t) => {
  const client = await startConsole(t)
  const { make, push, head } = branchesOf(client)
  const { call } = client
  const site = await make('site')
  const other = await make('other')
  const path = `/v1/vcl/${String(site['id'])}/push`
  const before = await head(site['id'])
  const nowhere = 'b10000000000000000000000'
  t.equal((await push(site['id'], vcl('x'), other['headCommitId'])).status, 404)
  t.equal((await call('POST', `${path}/${String(other['headCommitId'])}`)).status, 404)
  t.equal((await push(site['id'], vcl('x'), nowhere)).status, 404)
  t.equal((await push(site['id'], vcl('x'), 'head')).status, 404)
  t.equal((await push(other['id'], vcl('x'), site['id'])).status, 404)
  t.equal((await call('POST', path)).status, 400, 'there is nothing to push')
  t.equal((await call('POST', path, { body: {} })).status, 400)
  t.equal((await call('POST', path, { text: vcl('x'), type: 'text/vcl' })).status, 415)
  t.equal((await call('PUT', path, { body: { content: 'x' } })).status, 405)
  t.same(await head(site['id']), before)
})

void t.test('a push compiles on a cache of each release of its groups first', async (t) => {
  const client = await startConsole(t)
  const { make, push, head } = branchesOf(client)
  const { id, headCommitId: first } = await make('site')
  const { tagId } = await addConsoleGroup(client, 'edge', numberOf(id))
  const alone = await push(id, vcl('alone'))
  t.match(alone.body['message'], /no cache of its groups is running/)

  const old = { tagId, name: 'old', engineVersion: '6.0.11' }
  const caches = [
    await addCompilingCache(t, client, { tagId, name: 'new' }),
    await addCompilingCache(t, client, { tagId, name: 'spare' }),
    await addCompilingCache(t, client, old),
  ]
  const second = await push(id, vcl('second'))
  t.match(second.body['message'], /7\.1\.1 \(new\).*6\.0\.11 \(old\)/)
  t.same(
    caches.map(({ compiled }) => compiled),
    [[vcl('second')], [], [vcl('second')]],
  )
  const failed = await push(id, vcl('broken'))
  t.equal(failed.status, 400)
  t.match(failed.body['message'], /^site line 3 pos 3: Expected ';'/)
  t.match(await push(id, 'vcl 4.1; include "gone";'), { status: 400, body: { message: /gone/ } })
  t.equal((await head(id))['id'], second.body['id'], 'the head stays')

  await push(id, vcl('fine'))
  const stale = await push(id, vcl('broken'), first)
  t.equal(stale.status, 409, 'no cache is asked for nothing')
})

void t.test('who is no Admin sees and changes the branches of its groups', async (t) => {
  const client = await startConsole(t)
  const { make } = branchesOf(client)
  const { call } = client
  const branches: Record<string, Record<string, unknown>> = {}
  for (const name of ['own', 'shared', 'foreign', 'free']) branches[name] = await make(name)
  const idOf = (name: string) => branches[name]?.['id']
  const own = await addConsoleGroup(client, 'own', numberOf(idOf('own')))
  const shared = await addConsoleGroup(client, 'own too', numberOf(idOf('shared')))
  await addConsoleGroup(client, 'foreign', numberOf(idOf('foreign')))
  await addGroup(
    client.controller.service.store.queries,
    'of the controller',
    numberOf(idOf('shared')),
  )
  const groupIds = [own.id, shared.id]
  const user = await addConsoleUser(client, { name: 'anna', role: 'User', groupIds })
  const reader = await addConsoleUser(client, { name: 'rita', role: 'ReadOnly', groupIds })
  const seen = async (as: string) =>
    ((await call('GET', '/v1/vcl', { as })).body['list'] as { name: string }[]).map(
      ({ name }) => name,
    )
  t.same(await seen(user), ['own', 'shared', 'free'])
  t.same(await seen(reader), ['own', 'shared'])
  const push = async (as: string, name: string) => {
    const body = { content: vcl(as) }
    return (await call('POST', `/v1/vcl/${String(idOf(name))}/push`, { as, body })).status
  }
  const statuses = async (as: string) =>
    Promise.all(['own', 'shared', 'foreign', 'free'].map((name) => push(as, name)))
  t.same(await statuses(user), [200, 403, 404, 200])
  t.same(await statuses(reader), [403, 403, 403, 403])
  const made = await call('POST', '/v1/vcl', { as: user, body: { name: 'new', content: vcl('n') } })
  t.equal(made.status, 201)
  t.same(await seen(user), ['own', 'shared', 'free', 'new'])
})
