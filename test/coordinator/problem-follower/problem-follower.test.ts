/** Problems are listed, filtered, counted and published to the callers that may see them, on both databases. */
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { startProblemFollower } from '../../../src/coordinator/problem-follower/problem-follower.js'
import { heldMs } from '../../../src/coordinator/problem-follower/publish-problems.js'
import { noDeployment } from '../../../src/coordinator/fleet/placement-input.js'
import {
  deletePlacements,
  savePlacements,
} from '../../../src/coordinator/fleet/placement-queries.js'
import { deleteStage, writeStage } from '../../../src/coordinator/fleet/stage-queries.js'
import { createPlacement } from '../../../src/coordinator/placement/placing.js'
import { readOpenProblems } from '../../../src/coordinator/problems/open-problems.js'
import { agentStates, type AgentState } from '../../../src/resources/agent-state.js'
import type { Actor } from '../../../src/resources/permission.js'
import type { ProblemCode } from '../../../src/resources/problem.js'
import { heard, listen } from '../../support/event-client.js'
import { eventually } from '../../support/eventually.js'
import { startPostgres } from '../../support/postgres.js'
import { enrol } from '../controller/client.js'
import { addDeployment, addFile, addGroup, addTag } from '../store/rows.js'
import { startTenants, type Tenants } from '../identity/people.js'

const root: Actor = {
  accountId: 1,
  accountName: 'root',
  sessionId: 1,
  organizationId: null,
  role: 'system',
  grants: {},
}

function startFollowed(t: Test, { controller }: Tenants): void {
  const follower = startProblemFollower(controller.service, pino({ level: 'silent' }))
  t.teardown(() => follower.close())
}

async function setState({ controller }: Tenants, id: number, state: AgentState): Promise<void> {
  await controller.service.store.queries
    .updateTable('agents')
    .set({ state, lastStateChangeAt: controller.service.now() })
    .where('id', '=', id)
    .execute()
}

async function checkVisibility(t: Test, storeUrl: string): Promise<void> {
  const tenants = await startTenants(t, { storeUrl, withEvents: true })
  const { controller, system } = tenants
  startFollowed(t, tenants)
  const one = await tenants.makeOrganization('one')
  await tenants.makeOrganization('two')
  const ann = await tenants.addPerson('ann', 'one')
  const ben = await tenants.addPerson('ben', 'two')
  const [anns, bens] = [
    await listen(t, controller.base, ann),
    await listen(t, controller.base, ben),
  ]
  const own = await enrol(controller, 'edge-own', { organizationId: one })
  const shared = await enrol(controller, 'edge-shared')
  const { queries } = controller.service.store
  const open = async (actor: Actor) => (await readOpenProblems(queries, actor, 10)).problems

  await setState(tenants, own, agentStates.Failing)
  await setState(tenants, shared, agentStates.Down)
  await eventually('both are listed', async () => (await open(root)).length === 2)
  t.match(await open(root), [
    { object: { type: 'agent', id: own, name: 'edge-own' }, code: 'cache-failing', severity: 3 },
    { object: { type: 'agent', id: shared }, code: 'agent-down' },
  ])
  const [answered] = (await system.call(200, 'GET', `/agents/${own}`))['problems'] as object[] // a list of objects
  t.match((await open(root))[0], answered ?? {}, 'as in the answer of the agent')
  const listed = await eventually('the filter finds it', async () => {
    const found = await controller.call('GET', '/api/v1/agents?problems.code=cache-failing', ann)
    return found.text === '[]' ? undefined : found.text
  })
  t.match(JSON.parse(listed), [{ id: own }])
  const worst = await controller.call('GET', '/api/v1/agents?sort=severity:desc&severity=3', ann)
  t.match(JSON.parse(worst.text), [{ id: own }, { id: shared }])
  const foreign = await controller.call('GET', '/api/v1/agents?problems.code=*', ben)
  t.match(JSON.parse(foreign.text), [{ id: shared }])

  t.same(anns.of('problem'), [], 'no event before it has lasted')
  controller.advance(heldMs)
  const told = await heard(anns, 'problem', {
    object: { type: 'agent', id: own, name: 'edge-own' },
  })
  t.match(told.data, { opened: [{ code: 'cache-failing', remedy: /./ }], closed: [] })
  const ofShared = await eventually('the shared agent’s event', () => bens.of('problem')[0])
  t.match(ofShared.data, { object: { id: shared }, opened: [{ remedy: /system administrator/ }] })

  await setState(tenants, own, agentStates.Running)
  await eventually('its problem has ended', async () => (await open(root)).length === 1)
  controller.advance(heldMs)
  const closed = await eventually('the event of its end', () =>
    anns.of('problem').find(({ data }) => JSON.stringify(data['closed']) === '["cache-failing"]'),
  )
  t.match(closed.data, { object: { id: own }, opened: [] })
  t.ok(bens.of('problem').every(({ data }) => !JSON.stringify(data).includes('edge-own')))
  const stranger = { ...root, organizationId: one, role: 'regular', grants: {} } as const
  t.same(await open(stranger), [], 'nothing without a permission')
}

async function isForgottenWhatComesAndGoes(t: Test, storeUrl: string): Promise<void> {
  const tenants = await startTenants(t, { storeUrl, withEvents: true })
  const { controller, system } = tenants
  const { queries } = controller.service.store
  const [flaps, gone] = [await enrol(controller, 'edge-1'), await enrol(controller, 'edge-2')]
  await setState(tenants, gone, agentStates.Down)
  startFollowed(t, tenants)
  const all = await listen(t, controller.base, system)
  const count = async () => (await readOpenProblems(queries, root, 1)).total
  await eventually('a problem from before the start', async () => (await count()) === 1)
  await setState(tenants, flaps, agentStates.Failing)
  await eventually('the failing agent is counted', async () => (await count()) === 2)
  await setState(tenants, flaps, agentStates.Running)
  await eventually('it is no longer counted', async () => (await count()) === 1)
  await system.call(204, 'DELETE', `/agents/${gone}`)
  await eventually('a deleted agent has no problem', async () => (await count()) === 0)
  controller.advance(heldMs)
  const next = await enrol(controller, 'edge-3')
  await setState(tenants, next, agentStates.Locked)
  await eventually('the locked agent is counted', async () => (await count()) === 1)
  controller.advance(heldMs)
  await heard(all, 'problem', { object: { type: 'agent', id: next, name: 'edge-3' } })
  t.equal(all.of('problem').length, 1)
}

async function checkStageProblems(t: Test, storeUrl: string): Promise<void> {
  const tenants = await startTenants(t, { storeUrl, withEvents: true })
  const { controller, system } = tenants
  const { store } = controller.service
  startFollowed(t, tenants)
  const edge = await enrol(controller, 'edge-1')
  const [file, tag] = [await addFile(store.queries, 'main'), await addTag(store.queries, 'canary')]
  const group = await addGroup(store.queries, 'site', file)
  await store.decide(async (queries) => {
    const sources = {
      mainVCL: { id: file, version: 1, name: 'main' },
      includes: [],
      domains: [],
      deploymentIds: [],
      releases: null,
      sha: 'b'.repeat(64),
      programName: 'cf-1-x',
      stage: { tagIds: [tag], ownDomains: false, mainFileVersion: null },
    }
    const owned = { groupId: group, organizationId: null, revision: 1 }
    await writeStage(queries, { ...owned, sources }, controller.service.now())
    const place = createPlacement({
      group: { id: group, organizationId: null },
      agentId: edge,
      position: 1,
      revision: 1,
      stage: true,
      deploymentId: noDeployment,
      program: { name: 'cf-1-x', sha: 'b'.repeat(64), fqdns: null },
    })
    await savePlacements(queries, [place])
  })
  const open = async () => (await readOpenProblems(store.queries, root, 10)).problems
  const waiting = { object: { type: 'stage', id: group, name: 'site' }, code: 'place-waiting' }

  await setState(tenants, edge, agentStates.Down)
  const found = await eventually('the stage waits for its cache', async () =>
    (await open()).find(({ object }) => object.type === 'stage'),
  )
  t.match(found, waiting)
  const { staged } = await system.call(200, 'GET', `/vclgroups/${group}`)
  t.match(found, (staged as { problems: object[] }).problems[0] ?? {}, 'as the group’s answer')
  const listed = await controller.call(
    'GET',
    '/api/v1/vclgroups?staged.problems.code=place-waiting',
    system,
  )
  t.match(JSON.parse(listed.text), [{ id: group, problems: [] }], 'the group itself is fine')

  await store.decide(async (queries) => {
    await deletePlacements(queries, { groupId: group, stage: true }, [edge])
    await deleteStage(queries, group)
  })
  await eventually('it ended with its stage', async () =>
    (await open()).every(({ object }) => object.type === 'agent'),
  )
}

/** Rows as the follower writes them. */
async function checkSharedProblems(t: Test, storeUrl: string): Promise<void> {
  const { controller } = await startTenants(t, { storeUrl })
  const { queries } = controller.service.store
  const file = await addFile(queries, 'main')
  const deployments = [await addDeployment(queries, 'eu'), await addDeployment(queries, 'us')]
  const [eu = 0, us = 0] = deployments
  const use = async (name: string, deploymentId: number): Promise<number> => {
    const groupId = await addGroup(queries, name, file)
    await queries
      .insertInto('vclGroupDeployments')
      .values({ groupId, deploymentId, position: 0 })
      .execute()
    return groupId
  }
  const [shop, blog, site] = [await use('shop', eu), await use('blog', eu), await use('site', us)]
  const bear = (objectType: string, objectId: number, code: ProblemCode) =>
    queries
      .insertInto('openProblems')
      .values({
        objectType,
        objectId,
        code,
        organizationId: null,
        objectName: 'x',
        severity: 3,
        since: 1,
        data: JSON.stringify({ code }),
        sharedData: null,
        seenAt: 1,
        told: 1,
        endedAt: null,
      })
      .execute()
  for (const group of [shop, blog, site]) await bear('vclgroup', group, 'below-min')
  for (const deployment of deployments) await bear('deployment', deployment, 'below-min')
  for (const code of ['load-failed', 'backend-sick'] as const) {
    await bear('vclgroup', shop, code)
    await bear('vclgroup', blog, code)
  }
  await bear('deployment', eu, 'load-failed')
  const list = async (actor: Actor): Promise<string[]> => {
    const { problems, total } = await readOpenProblems(queries, actor, 20)
    t.equal(total, problems.length)
    return problems.map(({ object: { type, id }, code }) => `${type} ${id} ${code}`).toSorted()
  }

  t.same(
    await list(root),
    [
      `deployment ${eu} below-min`,
      `vclgroup ${blog} backend-sick`,
      `vclgroup ${blog} load-failed`,
      `vclgroup ${shop} backend-sick`,
      `vclgroup ${shop} load-failed`,
      `vclgroup ${site} below-min`,
    ].toSorted(),
    'the deployment of several groups, else its only group',
  )
  const reader = { ...root, role: 'regular', grants: { deployment: 'read' } } as const
  t.same(
    await list({ ...reader, organizationId: null }),
    [
      `deployment ${eu} below-min`,
      `deployment ${eu} load-failed`,
      `deployment ${us} below-min`,
    ].toSorted(),
    'a caller that cannot read groups sees all deployments',
  )
}

void t.test('on SQLite', async (t) => {
  await t.test('deployment problems once', (t) => checkSharedProblems(t, 'sqlite::memory:'))
  await t.test('problems of a stage', (t) => checkStageProblems(t, 'sqlite::memory:'))
  await t.test('problems by permission', (t) => checkVisibility(t, 'sqlite::memory:'))
  await t.test('no transient problems', (t) => isForgottenWhatComesAndGoes(t, 'sqlite::memory:'))
})

void t.test('on PostgreSQL', async (t) => {
  const postgres = await startPostgres(t)
  const urls = [
    await postgres.storeUrl(),
    await postgres.storeUrl(),
    await postgres.storeUrl(),
    await postgres.storeUrl(),
  ]
  await t.test('problems by permission', (t) => checkVisibility(t, urls[0] ?? ''))
  await t.test('no transient problems', (t) => isForgottenWhatComesAndGoes(t, urls[1] ?? ''))
  await t.test('problems of a stage', (t) => checkStageProblems(t, urls[2] ?? ''))
  await t.test('deployment problems once', (t) => checkSharedProblems(t, urls[3] ?? ''))
})
