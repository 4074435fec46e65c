/** Groups of the console: their fields, who can see them, and what blocks a deletion (docs/behaviour.md, Console groups). */
import t from 'tap'
import { toCommitId, toObjectId } from '../../../src/resources/object-id.js'
import { placeGroup } from '../controller/placed-group.js'
import { startFixture } from './group-fixture.js'

const nowhere = toObjectId('group', 4711)

void t.test('a group can be created, read, listed, paged, changed and deleted', async (t) => {
  const { expect, list } = await startFixture(t)

  const made = await expect(201, 'POST', '/v1/group', {
    name: 'bb',
    description: 'first\nof all',
    id: 'x',
    caches: ['x'],
    activeVclId: 'x',
    deployedVclCommitId: 'x',
    paramSetId: 'x',
    whatever: 1,
  })
  t.match(made, { id: /^90[0-9a-f]{22}$/, created: /^\d{4}-.*[+-]\d{4}$/, timestamp: /^\d/ })
  t.hasStrict(made, {
    name: 'bb',
    description: 'first\nof all',
    caches: [],
    overviewGroup: false,
    activeVclId: null,
    deployedVclCommitId: null,
    paramSetId: null,
  })
  const path = `/v1/group/${String(made['id'])}`
  t.same(await expect(200, 'GET', path), made)
  t.same(await list(), [made])
  await expect(201, 'POST', '/v1/group', { name: 'cc', overviewGroup: true })
  t.same((await expect(200, 'GET', '/v1/group/1/1'))['list'], [made])
  t.same((await expect(200, 'GET', '/v1/group/3/1'))['list'], [])

  const changed = await expect(200, 'PATCH', path, { overviewGroup: true, caches: ['x'] })
  t.hasStrict(changed, { ...made, overviewGroup: true, timestamp: changed['timestamp'] })
  t.equal((await expect(200, 'PATCH', path, { name: 'dd' }))['description'], 'first\nof all')
  await expect(204, 'DELETE', path)
  await expect(404, 'GET', path)
  t.equal((await list()).length, 1)
})

void t.test('a refusal names the reason or the valid form', async (t) => {
  const { call, expect, list } = await startFixture(t)
  await expect(201, 'POST', '/v1/group', { name: 'bb' })
  const cases: [number, string, string, unknown, RegExp][] = [
    [409, 'POST', '/v1/group', { name: 'bb' }, /"bb" is taken/],
    [400, 'POST', '/v1/group', {}, /name/],
    [400, 'POST', '/v1/group', { name: '' }, /1 to 255/],
    [400, 'POST', '/v1/group', { name: 'a\nb' }, /control/],
    [400, 'POST', '/v1/group', { name: 'x', description: 'a\0b' }, /U\+0000/],
    [400, 'POST', '/v1/group', { name: 'x', description: 'ä'.repeat(4097) }, /4096/],
    [400, 'POST', '/v1/group', { name: 'x', overviewGroup: 'yes' }, /overviewGroup/],
    [400, 'GET', '/v1/group/0/1', undefined, /page/],
    [404, 'GET', `/v1/group/${nowhere}`, undefined, /not found/],
    [404, 'PATCH', '/v1/group/1', { name: 'x' }, /not found/],
    [405, 'PUT', '/v1/group', {}, /./],
  ]
  for (const [status, method, path, body, message] of cases) {
    const answer = await call(method, path, body === undefined ? {} : { body })
    t.equal(answer.status, status, `${method} ${path} ${answer.text}`)
    t.match(answer.body['message'], message)
  }
  const text = await call('POST', '/v1/group', { text: 'name=x', type: 'text/plain' })
  t.equal(text.status, 415)
  t.equal((await list()).length, 1)
})

void t.test('a group in use cannot be deleted; the refusal lists what to remove', async (t) => {
  const fixture = await startFixture(t)
  const { expect, makeGroup, makeCache, service } = fixture
  const group = await makeGroup('bb')
  const cache = await makeCache('one')
  await expect(204, 'PUT', `${group.path}/cache/${cache}`)
  const { queries } = service.store
  const file = await queries
    .insertInto('files')
    .values({
      name: 'main',
      contentType: 'text/plain',
      encoded: 0,
      fileType: 1,
      version: 1,
      organizationId: null,
      sha: 'x',
      createdAt: 1,
      updatedAt: 1,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const relate = (mainFileId: number | null) =>
    queries.updateTable('vclGroups').set({ mainFileId }).where('id', '=', group.number).execute()
  await relate(file.id)

  t.match((await expect(409, 'DELETE', group.path))['message'], /1 cache, a VCL; take them out/)
  t.equal((await expect(200, 'GET', group.path))['activeVclId'], toObjectId('vcl', file.id))
  await relate(null)
  await expect(204, 'DELETE', `${group.path}/cache/${cache}`)
  await expect(204, 'DELETE', group.path)
  for (const table of ['consoleGroups', 'groupMembers', 'tags', 'deployments'] as const)
    t.same(await queries.selectFrom(table).selectAll().execute(), [], table)
})

void t.test(
  'the console shows root groups of the controller with their caches, read-only',
  async (t) => {
    const { controller, call, fleet } = await startFixture(t)
    const client = { service: controller.service, expect: fleet }
    const placed = await placeGroup(client, ['one', 'two'])

    const path = `/v1/group/${toObjectId('group', Number(placed.group['id']))}`
    const shown = (await call('GET', path)).body
    t.hasStrict(shown, {
      name: 'site',
      description: '',
      paramSetId: null,
      overviewGroup: false,
      caches: placed.agentIds.map((id) => toObjectId('cache', id)),
      deployedVclCommitId: toCommitId({ fileId: 1, version: 1 }),
    })
    t.same((await call('GET', '/v1/group')).body['list'], [shown])
    const [agentId = 0] = placed.agentIds
    const cache = toObjectId('cache', agentId)
    for (const [method, at] of [
      ['PATCH', path],
      ['DELETE', path],
      ['PUT', `${path}/cache/${cache}`],
      ['DELETE', `${path}/cache/${cache}`],
    ] as const) {
      const answer = await call(method, at, method === 'PATCH' ? { body: { name: 'x' } } : {})
      t.equal(answer.status, 409, `${method} ${at}`)
      t.match(answer.body['message'], /of the controller/)
    }
    const own = (await call('POST', '/v1/group', { body: { name: 'own' } })).body
    const joined = await call('PUT', `/v1/group/${String(own['id'])}/cache/${cache}`)
    t.equal(joined.status, 409)
    t.match(joined.body['message'], /"site" of the controller/)
  },
)
