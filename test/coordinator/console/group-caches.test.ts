/** Membership of caches in groups of the console: who may change it, and which caches are refused (docs/behaviour.md, Console groups). */
import t from 'tap'
import { parseObjectId, toObjectId } from '../../../src/resources/object-id.js'
import { readGroupsOfAgents } from '../../../src/coordinator/fleet/group-members.js'
import { placeGroup } from '../controller/placed-group.js'
import { startFixture, type Fixture, type MadeGroup } from './group-fixture.js'

const nobody = toObjectId('cache', 4711)

/** The number of the group, read from the cache. */
async function groupOf({ service }: Fixture, cache: string): Promise<number | undefined> {
  const agentId = parseObjectId('cache', cache) ?? 0
  return (await readGroupsOfAgents(service.store.queries, [agentId])).get(agentId)?.id
}

const cachesOf = async ({ expect }: Fixture, { path }: MadeGroup): Promise<unknown> =>
  (await expect(200, 'GET', path))['caches']

void t.test('the group and the cache both show that a cache joins and leaves', async (t) => {
  const fixture = await startFixture(t)
  const { expect, makeGroup, makeCache } = fixture
  const [bb, cc] = [await makeGroup('bb'), await makeGroup('cc')]
  const [one, two] = [await makeCache('one'), await makeCache('two')]

  for (const cache of [two, one, one]) await expect(204, 'PUT', `${bb.path}/cache/${cache}`)
  t.same(await cachesOf(fixture, bb), [one, two])
  t.equal(await groupOf(fixture, one), bb.number)
  const taken = await expect(409, 'PUT', `${cc.path}/cache/${one}`)
  t.match(taken['message'], /is in "bb" already; take it out there first/)

  await expect(204, 'DELETE', `${bb.path}/cache/${one}`)
  await expect(404, 'DELETE', `${bb.path}/cache/${one}`)
  t.same(await cachesOf(fixture, bb), [two])
  t.equal(await groupOf(fixture, one), undefined)
  await expect(204, 'PUT', `${cc.path}/cache/${one}`)
  t.equal(await groupOf(fixture, one), cc.number)
  for (const cache of [nobody, 'x', bb.id]) await expect(404, 'PUT', `${bb.path}/cache/${cache}`)
  await expect(404, 'PUT', `/v1/group/${toObjectId('group', 4711)}/cache/${two}`)
})

void t.test('a cache in a group cannot be deleted, even if nothing is deployed', async (t) => {
  const fixture = await startFixture(t)
  const { expect, makeGroup, makeCache } = fixture
  const bb = await makeGroup('bb')
  const [one, two] = [await makeCache('one'), await makeCache('two')]
  for (const cache of [one, two]) await expect(204, 'PUT', `${bb.path}/cache/${cache}`)
  const kept = await expect(409, 'DELETE', `/v1/cache/${one}`)
  t.match(kept['message'], /is in the group "bb"; take it out there first/)
  await expect(204, 'DELETE', `${bb.path}/cache/${one}`)
  await expect(204, 'DELETE', `/v1/cache/${one}`)
  await expect(204, 'DELETE', `/v1/cache/${two}?force=true`)
  t.same(await cachesOf(fixture, bb), [])
})

void t.test('a cache of a controller group cannot join a console group', async (t) => {
  const fixture = await startFixture(t)
  const { expect, fleet, makeGroup, service } = fixture
  const placed = await placeGroup({ service, expect: fleet }, ['one'])
  const [agentId = 0] = placed.agentIds
  const cache = toObjectId('cache', agentId)
  const bb = await makeGroup('bb')
  const join = () => expect(409, 'PUT', `${bb.path}/cache/${cache}`)

  t.match((await join())['message'], /"site" of the controller is deployed to this cache/)
  await service.store.queries.updateTable('placements').set({ currentFqdns: '["a"]' }).execute()
  await service.store.queries
    .updateTable('vclGroups')
    .set({ root: 0 })
    .where('console', '=', 0)
    .execute()
  t.match((await join())['message'], /"site"/, 'a group with domains blocks as well')
  t.same(await cachesOf(fixture, bb), [])
})

void t.test('organizations cannot use caches and groups of each other', async (t) => {
  const fixture = await startFixture(t)
  const { as, expect, list, makeGroup, makeCache, makeOrganization } = fixture
  const [red, blue] = [await makeOrganization('red'), await makeOrganization('blue')]
  const own = await makeCache('own', { organizationId: red.id })
  const [foreign, shared] = [
    await makeCache('foreign', { organizationId: blue.id }),
    await makeCache('shared'),
  ]
  const group = await makeGroup('same name', red.boss)
  const other = await makeGroup('same name', blue.boss)

  await as(red.boss)(204, 'PUT', `${group.path}/cache/${own}`)
  await as(red.boss)(404, 'PUT', `${group.path}/cache/${foreign}`)
  await as(red.boss)(404, 'PUT', `${other.path}/cache/${own}`)
  const refused = await as(red.boss)(403, 'PUT', `${group.path}/cache/${shared}`)
  t.match(refused['message'], /shared by all organizations/)
  t.same(
    (await list(red.boss)).map(({ id }) => id),
    [group.id],
  )
  t.same((await list()).length, 2, 'the system administrator sees both groups')
  t.match(
    (await expect(409, 'PUT', `${group.path}/cache/${foreign}`))['message'],
    /another organization/,
  )

  await expect(204, 'PUT', `${group.path}/cache/${shared}`)
  t.same(await cachesOf(fixture, group), [own, shared])
  const taken = await as(blue.boss)(403, 'PUT', `${other.path}/cache/${shared}`)
  t.notMatch(taken['message'], /same name/)
})

void t.test('a User changes its assigned groups, a ReadOnly user reads them', async (t) => {
  const fixture = await startFixture(t)
  const { as, call, expect, list, makeGroup, makeCache, makeUser } = fixture
  const [given, other] = [await makeGroup('given'), await makeGroup('other')]
  const cache = await makeCache('one')
  await expect(204, 'PUT', `${given.path}/cache/${cache}`)
  const groups = [given]
  const user = await makeUser('uma', { organizationId: null, role: 'User', groups })
  const reader = await makeUser('rea', { organizationId: null, role: 'ReadOnly', groups })
  const nothing = await makeUser('nil', { organizationId: null, role: 'User', groups: [] })

  for (const who of [user, reader])
    t.same(
      (await list(who)).map(({ id }) => id),
      [given.id],
    )
  t.same(await list(nothing), [])
  const change = { description: 'mine' }
  await as(user)(200, 'PATCH', given.path, change)
  await as(reader)(403, 'PATCH', given.path, change)
  for (const who of [user, reader]) {
    await as(who)(403, 'POST', '/v1/group', { name: 'x' })
    await as(who)(404, 'GET', other.path)
  }
  await as(user)(404, 'PATCH', other.path, change)
  await as(user)(404, 'DELETE', other.path)
  await as(user)(404, 'PUT', `${other.path}/cache/${cache}`)
  await as(reader)(403, 'DELETE', `${given.path}/cache/${cache}`)
  t.equal((await call('GET', given.path, { as: null })).status, 401)
  t.same(await cachesOf(fixture, given), [cache])

  t.match(await as(user)(200, 'GET', `/v1/cache/${cache}`), {
    groupId: given.id,
    groupName: 'given',
  })
  await as(user)(204, 'PUT', `${given.path}/cache/${cache}`)
  await as(user)(204, 'DELETE', `${given.path}/cache/${cache}`)
  await as(user)(404, 'PUT', `${given.path}/cache/${cache}`)
  t.match(await expect(200, 'GET', `/v1/cache/${cache}`), { groupId: null, groupName: 'default' })
})
