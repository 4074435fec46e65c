/** Places that pass from one group to another in a reconcile run: at the switch and not before, or not at all. */
import t, { type Test } from 'tap'
import { createTextJudge } from '../../../src/coordinator/groups/recall-sources.js'
import { followPlacements } from '../../../src/coordinator/placement/placement-following.js'
import { createPlacement } from '../../../src/coordinator/placement/placing.js'
import type { DesiredEngine } from '../../../src/vcl/desired-engine.js'
import { readHistory } from '../../../src/coordinator/fleet/history-queries.js'
import {
  readPlacements,
  savePlacements,
  type PlacementRecord,
} from '../../../src/coordinator/fleet/placement-queries.js'
import { markReplaced } from '../../../src/coordinator/fleet/replaced-placements.js'
import { findGroup, writeDesiredRelease } from '../../../src/coordinator/fleet/group-queries.js'
import { addAgent, addDeployment, addFile, addGroup, addTag, bearTag } from '../store/rows.js'
import { startService, type TestService } from '../gateway/service.js'

interface World {
  readonly service: TestService
  readonly agentId: number
  readonly red: Group
  readonly blue: Group
}

interface Group {
  readonly id: number
  readonly tag: number
  readonly deploymentId: number
  readonly place: PlacementRecord
}

/** Two deployed root groups, each for the agents of its tag; the agent has the tag red and serves red. */
async function prepare(t: Test): Promise<World> {
  const service = await startService(t)
  const { queries } = service.store
  const agentId = await addAgent(queries, 'edge')
  const fileId = await addFile(queries, 'main.vcl')
  const make = async (name: string): Promise<Group> => {
    const tag = await addTag(queries, name)
    const id = await addGroup(queries, name, fileId)
    const deploymentId = await addDeployment(queries, name)
    await queries.insertInto('deploymentTags').values({ deploymentId, tagId: tag }).execute()
    const program = { name: `cf-${id}-ffffffff-1`, sha: 'f'.repeat(64), fqdns: null }
    const sources = {
      mainVCL: { id: fileId, version: 1, name: 'main.vcl' },
      includes: [],
      releases: null,
      domains: [],
      sha: program.sha,
      programName: program.name,
      deploymentIds: [deploymentId],
    }
    await writeDesiredRelease(queries, id, { sources, pending: false, revision: 1 })
    const place = createPlacement({
      group: { id, organizationId: null },
      agentId,
      deploymentId,
      position: 1,
      revision: 1,
      program,
    })
    return { id, tag, deploymentId, place }
  }
  const [red, blue] = [await make('red'), await make('blue')]
  await bearTag(queries, agentId, red.tag)
  await savePlacements(queries, [serving(red)])
  return { service, agentId, red, blue }
}

function serving({ place }: Group): PlacementRecord {
  const { candidate: current } = place
  const applied = { state: 'applied', appliedRevision: 1 } as const
  return { ...place, ...applied, current, candidate: null, candidateState: null }
}

async function reconcile({ service }: World): Promise<void> {
  const judge = createTextJudge(service, () => undefined)
  await service.leases.run('placement', (lease) =>
    followPlacements(service, { graceUntil: 0, lease, judge, isDue: () => true }),
  )
}

async function readDesired({ service }: World): Promise<DesiredEngine> {
  const { queries } = service.store
  const { desired } = await queries.selectFrom('agents').select('desired').executeTakeFirstOrThrow()
  return JSON.parse(desired) as DesiredEngine // written by recomposeDesired
}

const placesOf = ({ service }: World) => readPlacements(service.store.queries, {})
const report = ({ service }: World, { id }: Group, candidateState: string) =>
  service.store.queries
    .updateTable('placements')
    .set({ candidateState, error: candidateState === 'failed' ? 'it does not compile' : null })
    .where('groupId', '=', id)
    .execute()

for (const [from, to] of [
  ['red', 'blue'],
  ['blue', 'red'],
] as const)
  void t.test(
    `an agent whose tag becomes ${to} serves ${from} until ${to} is loaded`,
    async (t) => {
      const world = await prepare(t)
      const { queries } = world.service.store
      const [old, next] = [world[from], world[to]]
      await queries.deleteFrom('placements').execute()
      await savePlacements(queries, [serving(old)])
      await queries.updateTable('agentTags').set({ tagId: next.tag }).execute()

      await reconcile(world)

      const loading = await readDesired(world)
      t.match(loading, { active: serving(old).current?.name, load: { length: 2 } })
      await report(world, next, 'loaded')
      await reconcile(world)
      t.match(await readDesired(world), { active: next.place.candidate?.name, load: { length: 1 } })
      t.match(await placesOf(world), [{ groupId: next.id, replacedBy: null }])
      const left = await findGroup(queries, { kind: 'all' }, old.id)
      t.match(left, { deployed: true }, 'it stays deployed for its tag')
    },
  )

void t.test('a group leaves an agent that no longer fits, even if the next fails', async (t) => {
  const world = await prepare(t)
  const { queries } = world.service.store
  await queries.updateTable('agentTags').set({ tagId: world.blue.tag }).execute()
  await reconcile(world)
  await report(world, world.blue, 'failed')
  await reconcile(world)
  await reconcile(world)
  t.match(await placesOf(world), [{ groupId: world.blue.id, current: null, state: 'failed' }])
  t.equal((await readDesired(world)).active, 'cf-idle')
})

/** The state after a replacing deploy that was decided before this agent had loaded. */
async function prepareLate(t: Test): Promise<World> {
  const world = await prepare(t)
  const { red, blue, agentId } = world
  const { queries } = world.service.store
  await queries
    .insertInto('deploymentTags')
    .values({ deploymentId: blue.deploymentId, tagId: red.tag })
    .execute()
  await queries.deleteFrom('deploymentTags').where('tagId', '=', blue.tag).execute()
  await markReplaced(queries, blue.id, [{ agentId, holder: red.id }])
  await savePlacements(queries, [blue.place])
  return world
}

void t.test('a late replacing candidate takes the place once it has loaded', async (t) => {
  const world = await prepareLate(t)
  const { red, blue, service } = world
  await reconcile(world)
  t.match(await placesOf(world), [{ replacedBy: blue.id }, { replacedBy: null }], 'not before')
  await report(world, blue, 'loaded')
  await reconcile(world)
  t.match(await placesOf(world), [{ groupId: blue.id, candidate: null }])
  t.equal((await readDesired(world)).active, blue.place.candidate?.name)
  const ended = await findGroup(service.store.queries, { kind: 'all' }, red.id)
  t.match(ended, { deployed: false }, 'a group without places is undeployed')
  t.match(await readHistory(service.store.queries, red.id), [
    { action: 'undeploy', replacedBy: { id: blue.id, name: 'blue' } },
  ])
})

void t.test('a candidate that fails to load leaves the place to its holder', async (t) => {
  const world = await prepareLate(t)
  const { red, blue } = world
  await report(world, blue, 'failed')
  await reconcile(world)
  await reconcile(world)
  t.match(await placesOf(world), [
    { groupId: red.id, replacedBy: null, state: 'applied' },
    { groupId: blue.id, candidate: null, state: 'failed' },
  ])
  t.equal((await readDesired(world)).active, serving(red).current?.name)
})
