/** Tags that people assign and the members of groups are independent: a change to one leaves the other unchanged. */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { parseObjectId } from '../../../src/resources/object-id.js'
import { idOf, rows } from '../identity/people.js'
import { startFixture, type Fixture, type MadeGroup } from './group-fixture.js'

interface Step {
  readonly act: 'join' | 'leave' | 'tag' | 'untag' | 'remake'
  readonly group: number
  readonly cache: number
}

const steps = fc.array(
  fc.record({
    act: fc.constantFrom('join', 'leave', 'tag', 'untag', 'remake'),
    group: fc.nat(1),
    cache: fc.nat(1),
  }),
  { minLength: 1, maxLength: 12 },
)

/** The expected state; groups and caches are numbered by their index in these lists. */
interface World {
  readonly caches: readonly string[]
  readonly groups: MadeGroup[]
  readonly groupOf: (number | undefined)[]
  readonly isTagged: boolean[]
  readonly tagId: number
}

async function makeWorld({ fleet, makeCache, makeGroup }: Fixture): Promise<World> {
  return {
    tagId: idOf(await fleet(201, 'POST', '/tags', { name: 'edge' })),
    caches: [await makeCache('one', { tags: ['rack'] }), await makeCache('two')],
    groups: [await makeGroup('0'), await makeGroup('1')],
    groupOf: [undefined, undefined],
    isTagged: [false, false],
  }
}

type Act = (t: Test, fixture: Fixture, world: World, step: Step) => Promise<void>

const relate: Act = async (t, { call }, { caches, groups, groupOf }, { act, group, cache }) => {
  const method = act === 'join' ? 'PUT' : 'DELETE'
  const path = `${groups[group]?.path ?? ''}/cache/${caches[cache] ?? ''}`
  const was = groupOf[cache]
  const right = was === group || (act === 'join' && was === undefined)
  const refusal = act === 'join' ? 409 : 404
  t.equal((await call(method, path)).status, right ? 204 : refusal)
  if (right) groupOf[cache] = act === 'join' ? group : undefined
}

const assign: Act = async (_, { fleet }, { caches, isTagged, tagId }, { act, cache }) => {
  const number = parseObjectId('cache', caches[cache] ?? '') ?? 0
  isTagged[cache] = act === 'tag'
  await fleet(200, 'PUT', `/agents/${number}`, { tags: act === 'tag' ? [{ id: tagId }] : [] })
}

const remake: Act = async (t, { call, makeGroup }, { groups, groupOf }, { group }) => {
  const isUsed = groupOf.includes(group)
  t.equal((await call('DELETE', groups[group]?.path ?? '')).status, isUsed ? 409 : 204)
  if (!isUsed) groups[group] = await makeGroup(String(group))
}

const acts = { join: relate, leave: relate, tag: assign, untag: assign, remake }

async function look(t: Test, { fleet, list }: Fixture, world: World): Promise<void> {
  const { caches, groups, groupOf, isTagged } = world
  const right = groups.map(({ id }, group) => ({
    id,
    caches: caches.filter((_, cache) => groupOf[cache] === group),
  }))
  const seen = (await list()).map((group) => ({ id: group['id'], caches: group['caches'] }))
  const byId = (a: { id: unknown }, b: { id: unknown }) => (String(a.id) < String(b.id) ? -1 : 1)
  t.same(seen.toSorted(byId), right.toSorted(byId))
  t.same(rows(await fleet(200, 'GET', '/deployments')), [])
  t.equal(rows(await fleet(200, 'GET', '/tags')).length, 2)
  const agents = rows(await fleet(200, 'GET', '/agents'))
  const counts = agents.map(({ tags }) => rows(tags as never).length)
  t.same(counts, [1 + Number(isTagged[0]), Number(isTagged[1])])
}

void t.test('members of groups and assigned tags do not affect each other', async (t) => {
  const fixture = await startFixture(t)
  const world = await makeWorld(fixture)
  const property = fc.asyncProperty(steps, async (all) => {
    for (const step of all) await acts[step.act](t, fixture, world, step)
    await look(t, fixture, world)
  })
  await fc.assert(property, { numRuns: 20 })
})
