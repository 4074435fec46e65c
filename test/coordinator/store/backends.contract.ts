/** Backends as agents see them, for each database: what counts, what is deleted with its agent or group, what queries cost. */
import type { Test } from 'tap'
import { agentStates } from '../../../src/resources/agent-state.js'
import type { ServedVcl } from '../../../src/messages/backend-health.js'
import {
  countBackends,
  readGroupBackends,
} from '../../../src/coordinator/backends/backend-facts.js'
import { listBackends } from '../../../src/coordinator/backends/backend-list.js'
import { saveBackendReports } from '../../../src/coordinator/backends/backend-recorder.js'
import { noDeployment } from '../../../src/coordinator/fleet/placement-input.js'
import {
  deletePlacements,
  savePlacements,
  type PlacementRecord,
} from '../../../src/coordinator/fleet/placement-queries.js'
import { createPlacement } from '../../../src/coordinator/placement/placing.js'
import type { Store } from '../../../src/coordinator/store/store.js'
import { addAgent, addFile, addGroup, addOrganization } from './rows.js'
import type { StoreFactory } from './store.contract.js'

const everything = { kind: 'all' } as const
const now = Date.UTC(2026, 5, 1)
const sickSince = now - 60_000

async function prepare(store: Store) {
  const { queries } = store
  const file = await addFile(queries, 'main')
  const group = await addGroup(queries, 'site', file)
  const agents = [await addAgent(queries, 'edge-1'), await addAgent(queries, 'edge-2')] as const
  const place = (
    agentId: number,
    name = `cf-${group}-01234567-1`,
    groupId = group,
    organizationId: number | null = null,
  ): PlacementRecord => ({
    ...createPlacement({
      group: { id: groupId, organizationId },
      agentId,
      position: 1,
      revision: 1,
      deploymentId: noDeployment,
      program: { name, sha: 'a'.repeat(64), fqdns: null },
    }),
    current: { name, sha: 'a'.repeat(64), fqdns: null },
    candidate: null,
    candidateState: null,
  })
  await store.decide((inside) =>
    savePlacements(
      inside,
      agents.map((id) => place(id)),
    ),
  )
  const report = (agentId: number, ...vcls: readonly ServedVcl[]) =>
    saveBackendReports({ store, now: () => now }, [{ agentId, vcls }])
  return { queries, group, agents, place, report, vcl: `cf-${group}-01234567-1` }
}

function served(name: string, healthy: readonly string[], sick: readonly string[] = []): ServedVcl {
  return {
    name,
    healthy,
    sick: sick.map((one) => ({ name: one, since: sickSince })),
    omitted: { healthy: 0, sick: 0 },
  }
}

const list = (
  queries: Store['queries'],
  query = {},
  scope: Parameters<typeof listBackends>[1] = everything,
) => listBackends(queries, scope, query)

export function backendsContract(t: Test, factory: StoreFactory): void {
  void t.test(
    'each backend of a group is one row over all its agents, the worst first',
    async (t) => {
      const { queries, group, agents, report, vcl } = await prepare(await factory.open(t))
      t.same(await list(queries), { rows: [], total: 0 }, 'nothing was reported')
      await report(agents[0], served(vcl, ['a', 'b']))
      await report(agents[1], served(vcl, ['a'], ['b']))

      const vclGroup = { id: group, name: 'site' }
      const sick = {
        vclGroup,
        name: 'b',
        healthy: 1,
        sick: 1,
        agents: [{ id: agents[1], name: 'edge-2' }],
        since: new Date(sickSince).toISOString(),
      }
      const well = { vclGroup, name: 'a', healthy: 2, sick: 0, agents: [], since: null }
      t.strictSame((await list(queries)).rows, [sick, well])
      t.same(await countBackends(queries, everything), { healthy: 1, sick: 1 })
      t.match((await readGroupBackends(queries, [group])).get(group), {
        total: 2,
        sickEverywhere: 0,
        sickSomewhere: 1,
        areAllSick: false,
        since: sickSince,
        worst: [{ name: 'b', sick: 1, healthy: 1 }],
        agents: [{ id: agents[1], name: 'edge-2' }],
      })
      t.equal((await readGroupBackends(queries, [group + 1])).size, 0, 'of that group only')

      const names = async (query: Record<string, string>) =>
        (await list(queries, query)).rows.map(({ name }) => name)
      t.same(await names({ sick: '0' }), ['a'])
      t.same(await names({ 'agents.name': 'edge-*' }), ['b'])
      t.same(await names({ 'agents.id': String(agents[0]) }), [], 'it sees both healthy')
      t.same(await names({ since: 'null' }), ['a'])
      t.same(await names({ 'vclGroup.name': 'site', sort: 'name' }), ['a', 'b'])
      t.strictSame(await list(queries, { take: '1,1' }), { rows: [well], total: 2 })
      await t.rejects(list(queries, { colour: 'red' }), {
        message: /^this list has no field "colour"; it has vclGroup.id, vclGroup.name, name,/,
      })
    },
  )

  void t.test('an agent that is Down or whose cache is not running does not count', async (t) => {
    const { queries, group, agents, report, vcl } = await prepare(await factory.open(t))
    await report(agents[0], served(vcl, [], ['b']))
    await report(agents[1], served(vcl, ['b']))
    const set = (agentId: number, changes: object) =>
      queries.updateTable('agents').set(changes).where('id', '=', agentId).execute()
    await set(agents[1], { state: agentStates.Down })
    t.match((await list(queries)).rows, [{ healthy: 0, sick: 1 }])
    t.match((await readGroupBackends(queries, [group])).get(group), {
      total: 1,
      sickEverywhere: 1,
      areAllSick: true,
    })
    await set(agents[1], { state: agentStates.Running })
    await set(agents[0], { engineState: 'stopped' })
    t.match((await list(queries)).rows, [{ healthy: 1, sick: 0, since: null }])
    t.equal((await readGroupBackends(queries, [group])).size, 0)
  })

  void t.test(
    'reports are deleted with the agent and with the placement of the group',
    async (t) => {
      const store = await factory.open(t)
      const { queries, group, agents, report, vcl } = await prepare(store)
      for (const agentId of agents) await report(agentId, served(vcl, [], ['b']))
      await store.decide((inside) =>
        deletePlacements(inside, { groupId: group, stage: false }, [agents[0]]),
      )
      t.match((await list(queries)).rows, [{ sick: 1, agents: [{ id: agents[1] }] }])
      await queries.deleteFrom('agents').where('id', '=', agents[0]).execute()
      const left = await queries.selectFrom('sickBackends').select('agentId').execute()
      t.same(left, [{ agentId: agents[1] }])
      await report(agents[0], served(vcl, ['b']))
      t.pass('what comes of an agent that is gone is dropped')
      await report(agents[1])
      t.same((await list(queries)).rows, [], 'nothing serves there any more')
    },
  )

  void t.test('an unchanged report writes nothing and creates no event', async (t) => {
    const store = await factory.open(t)
    const { queries, group, agents, report, vcl } = await prepare(store)
    const notes = async () => {
      const rows = await queries
        .deleteFrom('changes')
        .where('kind', '=', 'backend')
        .returning('objectId')
        .execute()
      return rows.map(({ objectId }) => objectId)
    }
    await report(agents[0], served(vcl, ['a', 'b']))
    t.same(await notes(), [], 'all are healthy')
    await report(agents[0], served(vcl, ['a'], ['b']))
    t.same(await notes(), [group])
    await report(agents[0], served(vcl, ['a'], ['b']))
    t.same(await notes(), [])
    await queries
      .updateTable('agents')
      .set({ state: agentStates.Down })
      .where('id', '=', agents[0])
      .execute()
    t.same(await notes(), [group], 'its sick backends no longer count')
    await report(agents[0], served(vcl, ['a', 'b']))
    t.same(await notes(), [group])
  })

  void t.test('a backend that stays sick over a switch keeps its start time', async (t) => {
    const store = await factory.open(t)
    const { queries, group, agents, place, report, vcl } = await prepare(store)
    await report(agents[0], served(vcl, [], ['b']))
    const next = `cf-${group}-89abcdef-2`
    const before = { name: vcl, sha: 'a'.repeat(64), fqdns: null }
    await store.decide((inside) =>
      savePlacements(inside, [{ ...place(agents[0], next), previous: before }]),
    )
    t.match((await list(queries)).rows, [{ sick: 1 }], 'also before the new VCL is reported')
    await report(agents[0], {
      ...served(next, []),
      sick: [{ name: 'b', since: now - 1 }],
    })
    t.match((await list(queries)).rows, [
      { sick: 1, healthy: 0, since: new Date(sickSince).toISOString() },
    ])
  })

  void t.test('an organization sees the backends of its own groups only', async (t) => {
    const store = await factory.open(t)
    const { queries, agents, place, report, vcl } = await prepare(store)
    const organizationId = await addOrganization(queries, 'red')
    const file = await addFile(queries, 'red')
    const own = await addGroup(queries, 'red', file)
    await queries.updateTable('vclGroups').set({ organizationId }).where('id', '=', own).execute()
    const ownVcl = `cf-${own}-01234567-1`
    await store.decide((inside) =>
      savePlacements(inside, [place(agents[0], ownVcl, own, organizationId)]),
    )
    await report(agents[0], served(vcl, [], ['theirs']), served(ownVcl, [], ['own']))
    const scope = { kind: 'organization', organizationId } as const
    t.match((await list(queries, {}, scope)).rows, [{ name: 'own', sick: 1 }])
    t.same(await countBackends(queries, scope), { healthy: 0, sick: 1 })
    t.equal((await list(queries)).total, 2)
  })

  void t.test('all agents that see it sick are counted, a hundred are named', async (t) => {
    const store = await factory.open(t)
    const { queries, place, report, vcl } = await prepare(store)
    const many: number[] = []
    for (let n = 0; n < 101; n++) many.push(await addAgent(queries, `far-${n}`))
    await store.decide((inside) =>
      savePlacements(
        inside,
        many.map((id) => place(id)),
      ),
    )
    for (const agentId of many) await report(agentId, served(vcl, [], ['b']))
    const [row] = (await list(queries)).rows
    t.equal(row?.sick, 101)
    t.equal(row?.agents.length, 100)
    t.equal((await list(queries, { 'agents.name': 'far-100' })).total, 1, 'found by one unnamed')
  })
}
