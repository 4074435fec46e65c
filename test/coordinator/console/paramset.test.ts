/**
 * Parameter sets over HTTP: their content, their owners, and their effect on the caches of a group
 * (docs/behaviour.md, Console parameters).
 */
import t, { type Test } from 'tap'
import { parseObjectId, toObjectId } from '../../../src/resources/object-id.js'
import { startFixture, type Fixture } from './group-fixture.js'

interface Fleet extends Fixture {
  /** Returns the path of the set. */
  readonly makeSet: (name: string, params?: object) => Promise<string>
  /** The desired parameters of a cache, with the revision of its desired state. */
  readonly readDesired: (cache: string) => Promise<{ params: object; revision: number }>
}

const idIn = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

async function startFleet(t: Test): Promise<Fleet> {
  const fixture = await startFixture(t)
  return {
    ...fixture,
    makeSet: async (name, params = {}) => {
      const { id } = await fixture.expect(201, 'POST', '/v1/paramset', { name, params })
      return `/v1/paramset/${String(id)}`
    },
    readDesired: async (cache) => {
      const row = await fixture.service.store.queries
        .selectFrom('agents')
        .select(['desired', 'desiredRevision'])
        .where('id', '=', parseObjectId('cache', cache) ?? 0)
        .executeTakeFirstOrThrow()
      const { params = [] } = JSON.parse(row.desired) as {
        params?: { name: string; value: string }[]
      } // DesiredEngine
      return {
        params: Object.fromEntries(params.map(({ name, value }) => [name, value])),
        revision: row.desiredRevision,
      }
    },
  }
}

void t.test('a set can be created, listed by page, changed and deleted', async (t) => {
  const { expect, makeSet } = await startFleet(t)
  const made = await expect(201, 'POST', '/v1/paramset', {
    name: 'web',
    params: { default_ttl: '77' },
    unknown: true,
  })
  t.match(made, {
    id: /^[0-9a-f]{24}$/,
    name: 'web',
    description: '',
    params: { default_ttl: '77' },
    created: /^\d{4}-\d\d-\d\dT\d\d:\d\d[+-]\d{4}$/,
    timestamp: /T/,
  })
  const path = `/v1/paramset/${String(made['id'])}`
  t.same(await expect(200, 'GET', path), made)
  await makeSet('other')
  t.equal(((await expect(200, 'GET', '/v1/paramset'))['list'] as object[]).length, 2)
  t.same((await expect(200, 'GET', '/v1/paramset/1/1'))['list'], [made])
  t.same((await expect(200, 'GET', '/v1/paramset/3/1'))['list'], [])

  const described = await expect(200, 'PATCH', path, { description: 'for the web', id: 'x' })
  t.match(described, { id: made['id'], name: 'web', params: { default_ttl: '77' } })
  const replaced = await expect(200, 'PATCH', path, { params: { thread_pools: '2' } })
  t.match(replaced, { description: 'for the web' })
  t.same(replaced['params'], { thread_pools: '2' }, 'a map of parameters is replaced')
  await expect(204, 'DELETE', path)
  await expect(404, 'GET', path)
})

void t.test('an invalid set is refused with the reason or the valid form', async (t) => {
  const { call, makeSet } = await startFleet(t)
  const path = await makeSet('web')
  const cases: [number, string, string, unknown, RegExp][] = [
    [400, 'POST', '/v1/paramset', { params: {} }, /name/],
    [400, 'POST', '/v1/paramset', { name: '' }, /1 to 255 characters/],
    [400, 'POST', '/v1/paramset', { name: 'x', params: { cc_command: 'x' } }, /by anyone/],
    [400, 'POST', '/v1/paramset', { name: 'x', params: { default_ttl: 7 } }, /params/],
    [400, 'POST', '/v1/paramset', { name: 'x', params: { default_ttl: 'a\nb' } }, /value holds/],
    [400, 'PATCH', path, { params: { 'no such': '1' } }, /is not a parameter/],
    [409, 'POST', '/v1/paramset', { name: 'web' }, /"web" is taken/],
    [404, 'PATCH', `/v1/paramset/${toObjectId('paramset', 99)}`, {}, /was not found/],
    [404, 'GET', `/v1/paramset/${toObjectId('group', 1)}`, undefined, /was not found/],
    [400, 'GET', '/v1/paramset/0/5', undefined, /whole number/],
    [404, 'GET', `${path}/nothing`, undefined, /nothing at this path/],
  ]
  for (const [status, method, where, body, message] of cases) {
    const answer = await call(method, where, { body })
    t.equal(answer.status, status, `${method} ${where} ${JSON.stringify(body)}`)
    t.match(answer.body['message'], message)
  }
})

void t.test('the caches of a group get its parameter set', async (t) => {
  const { expect, makeSet, makeGroup, makeCache, readDesired } = await startFleet(t)
  const set = await makeSet('web', { default_ttl: '77', thread_pools: '2' })
  const { path: group } = await makeGroup('site')
  const [early, late] = [await makeCache('early'), await makeCache('late')]
  await expect(204, 'PUT', `${group}/cache/${early}`)
  const before = await readDesired(early)
  t.same(before.params, {})

  await expect(204, 'PUT', `${group}/paramset/${idIn(set)}`)
  t.equal((await expect(200, 'GET', group))['paramSetId'], idIn(set))
  t.same((await readDesired(early)).params, { default_ttl: '77', thread_pools: '2' })
  const { revision } = await readDesired(early)
  t.equal(revision, before.revision + 1)
  await expect(204, 'PUT', `${group}/paramset/${idIn(set)}`)
  t.equal((await readDesired(early)).revision, revision, 'assigning the set again changes nothing')

  await expect(204, 'PUT', `${group}/cache/${late}`)
  t.same((await readDesired(late)).params, { default_ttl: '77', thread_pools: '2' }, 'it joined')
  await expect(200, 'PATCH', set, { params: { default_ttl: '5' } })
  for (const cache of [early, late]) t.same((await readDesired(cache)).params, { default_ttl: '5' })

  await expect(409, 'DELETE', set)
  await expect(204, 'DELETE', `${group}/cache/${late}`)
  t.same((await readDesired(late)).params, {}, 'it left')
  await expect(204, 'DELETE', `${group}/paramset/${idIn(set)}`)
  t.same((await readDesired(early)).params, {})
  t.equal((await expect(200, 'GET', group))['paramSetId'], null)
  await expect(404, 'DELETE', `${group}/paramset/${idIn(set)}`)
  await expect(404, 'PUT', `${group}/paramset/${toObjectId('paramset', 99)}`)
  await expect(204, 'DELETE', set)
})

void t.test('a user assigns and changes only the sets of its own groups', async (t) => {
  const fleet = await startFleet(t)
  const { expect, makeSet, makeGroup, makeUser } = fleet
  const [mine, others] = [await makeGroup('mine'), await makeGroup('others')]
  const [free, shared, hidden] = [
    await makeSet('free'),
    await makeSet('shared'),
    await makeSet('hidden'),
  ]
  for (const group of [mine, others])
    await expect(204, 'PUT', `${group.path}/paramset/${idIn(shared)}`)
  const own = { organizationId: null, groups: [mine] }
  const user = fleet.as(await makeUser('uma', { ...own, role: 'User' }))
  const reader = fleet.as(await makeUser('rea', { ...own, role: 'ReadOnly' }))
  const other = await makeGroup('third')
  await expect(204, 'PUT', `${other.path}/paramset/${idIn(hidden)}`)

  for (const as of [user, reader]) {
    const { list } = await as(200, 'GET', '/v1/paramset')
    t.same(
      (list as { name: string }[]).map(({ name }) => name),
      ['free', 'shared'],
    )
    await as(404, 'GET', hidden)
  }
  await user(403, 'PATCH', shared, { params: {} })
  await user(403, 'DELETE', shared)
  await user(404, 'PATCH', hidden, { params: {} })
  await user(404, 'PUT', `${mine.path}/paramset/${idIn(hidden)}`)
  await user(404, 'PUT', `${others.path}/paramset/${idIn(free)}`)
  await user(204, 'PUT', `${mine.path}/paramset/${idIn(free)}`)
  await user(200, 'PATCH', free, { params: { default_ttl: '1' } })
  await user(201, 'POST', '/v1/paramset', { name: 'own' })

  await reader(403, 'POST', '/v1/paramset', { name: 'x' })
  await reader(403, 'PATCH', free, {})
  await reader(403, 'PUT', `${mine.path}/paramset/${idIn(free)}`)
})
