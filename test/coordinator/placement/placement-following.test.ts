/** Placement follows the fleet: single and mass outages, crowds of new agents; and the previous VCLs that a full cache drops. */
import t, { type Test } from 'tap'
import { agentChangedSubject } from '../../../src/coordinator/bus/subjects.js'
import { createTextJudge } from '../../../src/coordinator/groups/recall-sources.js'
import { followPlacements } from '../../../src/coordinator/placement/placement-following.js'
import {
  createPendingDeploys,
  retries,
  startPlacementFollower,
} from '../../../src/coordinator/deploying/placement-follower.js'
import { createPlacement } from '../../../src/coordinator/placement/placing.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import { loadedLimit } from '../../../src/coordinator/fleet/loaded-limit.js'
import type { DesiredEngine } from '../../../src/vcl/desired-engine.js'
import { recomposeDesired } from '../../../src/coordinator/fleet/desired-states.js'
import { readPlacements, savePlacements } from '../../../src/coordinator/fleet/placement-queries.js'
import { eventually } from '../../support/eventually.js'
import { addAgent, addDeployment, addFile, addGroup, addTag, bearTag } from '../store/rows.js'
import { startService, type TestService } from '../gateway/service.js'

const heartbeatMs = 5_000

interface Fleet {
  readonly service: TestService
  readonly groupId: number
  readonly agentIds: readonly number[]
}

interface FleetParts {
  readonly agents: number
  readonly min: number
  readonly max: number
}

/** One deployed group for all of these agents, which are Running; nothing is placed yet. */
async function makeFleet(t: Test, { agents, min, max }: FleetParts): Promise<Fleet> {
  const service = await startService(t, { heartbeatMs })
  const { queries } = service.store
  const tagId = await addTag(queries, 'web')
  const fileId = await addFile(queries, 'main.vcl')
  const groupId = await addGroup(queries, 'group', fileId)
  const deploymentId = await addDeployment(queries, 'web')
  await queries.updateTable('deployments').set({ min, max }).execute()
  await queries.insertInto('deploymentTags').values({ deploymentId, tagId }).execute()
  const release = {
    mainVCL: { id: fileId, version: 1, name: 'main.vcl' },
    includes: [],
    sha: 'f'.repeat(64),
    programName: `cf-${groupId}-ffffffff-1`,
    deploymentIds: [deploymentId],
    domains: [],
  }
  await queries
    .updateTable('vclGroups')
    .set({ deployed: 1, revision: 1, wish: JSON.stringify(release) })
    .execute()
  const agentIds: number[] = []
  for (let n = 0; n < agents; n++) {
    const id = await addAgent(queries, `agent-${n}`)
    await bearTag(queries, id, tagId)
    agentIds.push(id)
  }
  return { service, groupId, agentIds }
}

/** Advances the clock; every agent that is not Down sends a heartbeat. */
async function beat({ service }: Fleet, heartbeats: number): Promise<void> {
  service.moveClock(heartbeats * heartbeatMs)
  await service.store.queries
    .updateTable('agents')
    .set({ lastHeartbeatAt: service.now() })
    .where('state', '!=', agentStates.Down)
    .execute()
}

async function setState({ service }: Fleet, ids: readonly number[], state: number): Promise<void> {
  await service.store.queries
    .updateTable('agents')
    .set({ state, lastStateChangeAt: service.now() })
    .where('id', 'in', [...ids])
    .execute()
}

/** Returns the time of the next run, null if none is needed. */
async function reconcile({ service }: Fleet, graceUntil = 0): Promise<number | null> {
  const judge = createTextJudge(service, () => undefined)
  const followed = await service.leases.run('placement', (lease) =>
    followPlacements(service, { graceUntil, lease, judge, isDue: () => true }),
  )
  if (!followed) throw new Error('the lease is not ours')
  return followed.againAt
}

async function holdersOf({ service, groupId }: Fleet): Promise<number[]> {
  const placements = await readPlacements(service.store.queries, { groupIds: [groupId] })
  return placements.map(({ agentId }) => agentId)
}

const { Down, Running } = agentStates

void t.test('an agent that is Down alone is replaced after a heartbeat', async (t) => {
  const fleet = await makeFleet(t, { agents: 6, min: 2, max: 2 })
  await beat(fleet, 1)
  t.equal(await reconcile(fleet), null)
  const [first = 0, second = 0] = await holdersOf(fleet)
  await setState(fleet, [first], Down)

  t.equal(await reconcile(fleet), fleet.service.now() + heartbeatMs, 'it waits for a heartbeat')
  t.same(await holdersOf(fleet), [first, second])
  await beat(fleet, 1)
  t.equal(await reconcile(fleet, fleet.service.now() + 1), fleet.service.now() + 1)
  t.same(
    await holdersOf(fleet),
    [first, second],
    'a coordinator that just started does not move it',
  )
  t.equal(await reconcile(fleet), null)
  const [stayed, third = 0] = await holdersOf(fleet)
  t.equal(stayed, second)
  t.ok(fleet.agentIds.includes(third) && third !== first, 'another agent takes its place')

  await setState(fleet, [first], Running)
  await beat(fleet, 1)
  await reconcile(fleet)
  t.same(await holdersOf(fleet), [second, third], 'it keeps the place when the first returns')
})

void t.test('agents that are Down with most of the fleet keep their places', async (t) => {
  const fleet = await makeFleet(t, { agents: 6, min: 2, max: 2 })
  await beat(fleet, 1)
  await reconcile(fleet)
  const holders = await holdersOf(fleet)
  const others = fleet.agentIds.filter((id) => !holders.includes(id))
  await setState(fleet, holders, Down)
  await beat(fleet, 1)
  await setState(fleet, others.slice(0, 2), Down)
  await reconcile(fleet)
  t.same(await holdersOf(fleet), holders)

  await beat(fleet, 20)
  t.equal(await reconcile(fleet), null)
  t.same(await holdersOf(fleet), holders, 'their places are kept')
  const [first = 0, second = 0] = holders
  await setState(fleet, [first, ...others.slice(0, 2)], Running)
  await beat(fleet, 1)
  await reconcile(fleet)
  t.same(await holdersOf(fleet), holders, 'they are kept when others return')
  const kept = (await readPlacements(fleet.service.store.queries, {})).map((one) => one.keptDown)
  t.same(kept, [false, true])

  await setState(fleet, [second], Running)
  await beat(fleet, 1)
  await reconcile(fleet)
  await setState(fleet, [second], Down)
  await beat(fleet, 2)
  await reconcile(fleet)
  t.notOk((await holdersOf(fleet)).includes(second), 'one that later goes Down alone is replaced')
})

void t.test('overdue agents count towards a mass outage', async (t) => {
  const fleet = await makeFleet(t, { agents: 5, min: 1, max: 1 })
  await beat(fleet, 1)
  await reconcile(fleet)
  const [holder = 0] = await holdersOf(fleet)
  const silent = fleet.agentIds.filter((id) => id !== holder).slice(0, 2)
  const heardAt = fleet.service.now()
  await beat(fleet, 2)
  await setState(fleet, [holder], Down)
  await beat(fleet, 1)
  await fleet.service.store.queries
    .updateTable('agents')
    .set({ lastHeartbeatAt: heardAt })
    .where('id', 'in', silent)
    .execute()
  await reconcile(fleet)
  t.same(await holdersOf(fleet), [holder])
})

void t.test('five hundred agents that arrive at once are placed in a few runs', async (t) => {
  const fleet = await makeFleet(t, { agents: 500, min: 1, max: 1000 })
  let decisions = 0
  const counted: TestService = {
    ...fleet.service,
    store: {
      ...fleet.service.store,
      queries: fleet.service.store.queries,
      decide: (work) => {
        decisions += 1
        return fleet.service.store.decide(work)
      },
    },
  }
  const follower = startPlacementFollower(counted, fleet.service.log)
  t.teardown(() => follower.close())
  for (const id of fleet.agentIds) counted.bus.publish(agentChangedSubject, { agentIds: [id] })
  await eventually('all are placed', async () => (await holdersOf(fleet)).length === 500)
  t.ok(decisions <= 3, `${decisions} runs`)
})

void t.test('a cache over its VCL limit drops the oldest previous VCLs', async (t) => {
  const service = await startService(t)
  const { queries } = service.store
  const agentId = await addAgent(queries, 'agent')
  const deploymentId = await addDeployment(queries, 'web')
  const fileId = await addFile(queries, 'main.vcl')
  const groups = 40
  for (let n = 0; n < groups; n++) {
    const groupId = await addGroup(queries, `group-${n}`, fileId)
    const program = (what: string) => ({
      name: `cf-${groupId}-${what}-1`,
      sha: 'f'.repeat(64),
      fqdns: [`${n}.example.com`],
    })
    const place = createPlacement({
      group: { id: groupId, organizationId: null },
      agentId,
      deploymentId,
      position: 1,
      revision: 1,
      program: program('aaaaaaaa'),
    })
    const [current, previous] = [program('cccccccc'), program('bbbbbbbb')]
    const deployedAt = 1000 + ((n * 7) % groups)
    await savePlacements(queries, [
      { ...place, candidate: null, candidateState: null, current, previous, deployedAt },
    ])
  }

  await service.store.decide((inside) => recomposeDesired(inside, [agentId]))

  const row = await queries.selectFrom('agents').select('desired').executeTakeFirstOrThrow()
  const desired = JSON.parse(row.desired) as DesiredEngine // written by recomposeDesired
  t.equal(desired.load.length, loadedLimit - 1, 'with the idle VCL there are sixty')
  const places = await readPlacements(queries, { agentIds: [agentId] })
  t.ok(places.every(({ current }) => desired.load.some(({ name }) => name === current?.name)))
  const ages = (kept: boolean) =>
    places.filter(({ previous }) => (previous !== null) === kept).map((one) => one.deployedAt ?? 0)
  t.ok(Math.max(...ages(false)) < Math.min(...ages(true)), 'the oldest are gone, also in the rows')
})

void t.test('a failed pending deploy is retried at growing intervals', (t) => {
  const pending = createPendingDeploys()
  t.ok(pending.isDue(1, 'a', 0), 'the first attempt is immediate')
  let now = 0
  const pauses = Array.from({ length: 8 }, () => {
    const againAt = pending.recordFailure(1, 'a', now)
    t.notOk(pending.isDue(1, 'a', againAt - 1))
    t.ok(pending.isDue(1, 'a', againAt))
    const pauseMs = againAt - now
    now = againAt
    return pauseMs
  })
  const doubled = pauses.map((_, at) => Math.min(retries.firstMs * 2 ** at, retries.longestMs))
  t.same(pauses, doubled, 'pauses double up to the longest, without an end')
  pending.recordFailure(1, 'a', now)
  t.ok(pending.isDue(1, 'b', now), 'a changed release is tried at once')
  t.ok(pending.isDue(2, 'a', now), 'so is one of another group')
  pending.forget(1)
  t.ok(pending.isDue(1, 'a', now))
  t.end()
})
