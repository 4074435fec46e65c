/**
 * A deployed group of the console is placed on all its existing caches, and follows caches that join and leave
 * (docs/behaviour.md, Console groups).
 */
import t from 'tap'
import { createTextJudge } from '../../../src/coordinator/groups/recall-sources.js'
import { followPlacements } from '../../../src/coordinator/placement/placement-following.js'
import { parseObjectId } from '../../../src/resources/object-id.js'
import { keepSource } from '../../../src/coordinator/fleet/sources.js'
import { readPlacements } from '../../../src/coordinator/fleet/placement-queries.js'
import { findGroup, writeDesiredRelease } from '../../../src/coordinator/fleet/group-queries.js'
import { rows } from '../identity/people.js'
import { startFixture, type Fixture, type MadeGroup } from './group-fixture.js'

const sha = 'f'.repeat(64)
const names = ['one', 'two', 'three', 'four']

/** The state after a deploy without any cache. */
async function setDeployed({ service }: Fixture, { number }: MadeGroup): Promise<void> {
  const group = await findGroup(service.store.queries, { kind: 'all' }, number)
  const source = { sha, text: 'vcl 4.1;', sourceMap: { files: [], segments: [] } }
  await keepSource(service.store.queries, source, 1)
  await writeDesiredRelease(service.store.queries, number, {
    sources: {
      mainVCL: { id: 1, version: 1, name: 'main.vcl' },
      includes: [],
      releases: null,
      domains: [],
      sha,
      programName: `cf-${number}-ffffffff-1`,
      deploymentIds: group?.deployments.map(({ id }) => id) ?? [],
    },
    pending: false,
    revision: 1,
  })
}

/** Runs the placement follower once; returns the agents that the group is placed on. */
async function follow({ service }: Fixture, { number }: MadeGroup): Promise<readonly number[]> {
  const judge = createTextJudge(service, () => undefined)
  await service.leases.run('placement', (lease) =>
    followPlacements(service, { graceUntil: 0, lease, judge, isDue: () => true }),
  )
  const places = await readPlacements(service.store.queries, { groupIds: [number] })
  return places.map(({ agentId }) => agentId).sort()
}

void t.test('a deployed group follows caches that join and leave it', async (t) => {
  const fixture = await startFixture(t)
  const { expect, fleet, makeGroup, makeCache } = fixture
  const group = await makeGroup('bb')
  const caches = await Promise.all(names.map((name) => makeCache(name)))
  const [one = 0, two = 0, three = 0] = caches.map((id) => parseObjectId('cache', id) ?? 0)
  const relate = (method: string, number: number) =>
    expect(204, method, `${group.path}/cache/${caches[number - 1] ?? ''}`)
  for (const number of [one, two]) await relate('PUT', number)
  t.same(await follow(fixture, group), [], 'a group is idle until it is deployed')

  await setDeployed(fixture, group)
  t.same(await follow(fixture, group), [one, two])
  await relate('PUT', three)
  t.same(await follow(fixture, group), [one, two, three])
  await relate('DELETE', one)
  t.same(await follow(fixture, group), [two, three])
  for (const number of [two, three]) await relate('DELETE', number)
  t.same(await follow(fixture, group), [], 'the last cache may leave as well')

  await relate('PUT', one)
  await follow(fixture, group)
  const told = rows(await fleet(200, 'GET', `/vclgroups/${group.number}/placement`))
  t.same(
    told.map(({ agent, chosen, deployment, reason }) => [
      (agent as { id: number }).id,
      chosen,
      deployment,
      reason,
    ]),
    caches.map((_, at) => [
      ...[at + 1, at + 1 === one, null],
      at + 1 === one ? 'it keeps its place' : 'it is not in the group',
    ]),
  )
  const shown = await fleet(200, 'GET', `/vclgroups/${group.number}`)
  t.hasStrict(shown, { deployed: true, deployments: [] })
  t.hasStrict(shown['wish'], { deployments: [] })
  t.match((await expect(409, 'DELETE', group.path))['message'], /1 cache; take/)
})

void t.test(
  'the controller places no group on a member of a console group, deployed or not',
  async (t) => {
    const { expect, fleet, makeGroup, makeCache } = await startFixture(t)
    const group = await makeGroup('bb')
    const cache = await makeCache('one', { tags: ['rack'] })
    const mainVCL = await fleet(201, 'POST', '/vcls', { name: 'main.vcl', source: 'vcl 4.1;' })
    const tags = rows(await fleet(200, 'GET', '/tags')).map(({ id }) => ({ id }))
    const deployment = await fleet(201, 'POST', '/deployments', { name: 'rack', tags })
    const site = await fleet(201, 'POST', '/vclgroups', {
      name: 'site',
      mainVCL: { id: mainVCL['id'] },
      deployments: [{ id: deployment['id'] }],
    })
    const tell = () => fleet(200, 'GET', `/vclgroups/${String(site['id'])}/placement`)

    await expect(204, 'PUT', `${group.path}/cache/${cache}`)
    t.match(await tell(), [{ chosen: false, reason: 'it is in a group of the console' }])
    const refused = await fleet(409, 'PUT', `/vclgroups/${String(site['id'])}/deploy`)
    t.match(refused['errorMsg'], /other groups hold the agents/)
    await expect(204, 'DELETE', `${group.path}/cache/${cache}`)
    t.match(await tell(), [{ chosen: true }])
  },
)
