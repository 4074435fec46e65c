/** Settings of agents, for each database: which rule replaces which, and their effect on the desired state. */
import type { Test } from 'tap'
import type { DesiredSettings } from '../../../src/vcl/engine-settings.js'
import { recomposeDesired } from '../../../src/coordinator/fleet/desired-states.js'
import { insertMember } from '../../../src/coordinator/fleet/group-members.js'
import {
  countSettings,
  readSettings,
  writeHealth,
  writeParam,
  type HealthChange,
} from '../../../src/coordinator/fleet/setting-queries.js'
import {
  countParamSets,
  insertParamSet,
  readGroupsWithParamSet,
  readParamSets,
  relateParamSet,
  updateParamSet,
} from '../../../src/coordinator/fleet/paramset-queries.js'
import type { Scope } from '../../../src/coordinator/store/scope.js'
import type { Queries } from '../../../src/coordinator/store/store.js'
import { isForeignKeyViolation } from '../../../src/coordinator/store/violation.js'
import { deleteRow } from '../../../src/coordinator/store/write-rows.js'
import { addAgent, addFile, addGroup, addOrganization } from './rows.js'
import type { StoreFactory } from './store.contract.js'

interface Cast {
  readonly queries: Queries
  readonly agentId: number
  readonly groups: { readonly red: number; readonly own: number }
  readonly red: Scope
  readonly read: (...placed: readonly ('red' | 'own')[]) => Promise<DesiredSettings>
  readonly set: (
    scope: Scope,
    change: Partial<HealthChange> & Pick<HealthChange, 'health'>,
  ) => Promise<void>
}

const all: Scope = { kind: 'all' }

async function prepare({ queries }: { readonly queries: Queries }): Promise<Cast> {
  const organizationId = await addOrganization(queries, 'red')
  const fileId = await addFile(queries, 'main')
  const groups = {
    red: await addGroup(queries, 'red', fileId),
    own: await addGroup(queries, 'own', fileId),
  }
  await queries
    .updateTable('vclGroups')
    .set({ organizationId })
    .where('id', '=', groups.red)
    .execute()
  const agentId = await addAgent(queries, 'edge-1')
  const owners = { red: organizationId, own: null }
  return {
    queries,
    agentId,
    groups,
    red: { kind: 'organization', organizationId },
    read: async (...placed) => {
      const places = placed.map((name) => ({ groupId: groups[name], organizationId: owners[name] }))
      const settings = await readSettings(queries, [agentId], new Map([[agentId, places]]))
      return settings.get(agentId) ?? {}
    },
    set: (scope, change) =>
      writeHealth(queries, scope, agentId, { backend: 'default', group: null, ...change }),
  }
}

export function settingsContract(t: Test, factory: StoreFactory): void {
  void t.test('keeps the parameters of an agent, the last value of each', async (t) => {
    const { queries, agentId, read } = await prepare(await factory.open(t))
    for (const [name, value] of [
      ['default_ttl', '1'],
      ['default_grace', 'Ä "x"'],
      ['default_ttl', '2'],
      ['gone', '3'],
      ['gone', null],
    ] as const)
      await writeParam(queries, agentId, { name, value })

    t.same(await read(), {
      params: [
        { name: 'default_grace', value: 'Ä "x"' },
        { name: 'default_ttl', value: '2' },
      ],
    })
    t.equal(await countSettings(queries, agentId), 2)
    const [row] = await readDesired(queries)
    t.same(await recomposeDesired(queries, [agentId]), [agentId])
    const [next] = await readDesired(queries)
    t.equal(next?.desiredRevision, Number(row?.desiredRevision) + 1)
    t.match(JSON.parse(next?.desired ?? ''), await read())
    t.same(await recomposeDesired(queries, [agentId]), [], 'nothing new')
    await queries.deleteFrom('agents').execute()
    t.same(await queries.selectFrom('agentParams').selectAll().execute(), [])
  })

  void t.test(
    'applies the common parameters of a group beside the own ones of a cache',
    async (t) => {
      const { queries, agentId, groups, red, read } = await prepare(await factory.open(t))
      await queries
        .insertInto('consoleGroups')
        .values({ groupId: groups.own, description: '', overviewGroup: 0, paramSetId: null })
        .execute()
      const fields = {
        name: 'set',
        description: '',
        params: { default_ttl: '7', feature: '+http2' },
      }
      const id = await insertParamSet(queries, null, fields, 1)
      await insertMember(queries, groups.own, agentId)
      await writeParam(queries, agentId, { name: 'default_ttl', value: '9' })
      const named = (values: object) => ({
        params: Object.entries(values).map(([name, value]) => ({ name, value: String(value) })),
      })
      t.same(await read(), named({ default_ttl: 9 }), 'a set without a group has no effect')

      await relateParamSet(queries, groups.own, id)
      t.same(await read(), named({ default_ttl: 9, feature: '+http2' }))
      await writeParam(queries, agentId, { name: 'default_ttl', value: null })
      t.same(await read(), named({ default_ttl: 7, feature: '+http2' }))
      t.match(await readParamSets(queries, all), [{ ...fields, id, groupIds: [groups.own] }])
      t.same(await readParamSets(queries, red, { id }), [], 'another organization’s is hidden')
      t.same(await readGroupsWithParamSet(queries, id, 5), ['own'])
      const refused = await deleteRow(queries, 'paramSets', id).catch((error: unknown) => error)
      t.ok(isForeignKeyViolation(refused), 'a set in use stays')

      await updateParamSet(queries, id, { ...fields, params: { thread_pools: '2' } }, 2)
      t.same(await read(), named({ thread_pools: 2 }))
      await relateParamSet(queries, groups.own, null)
      t.same(await read(), {})
      await deleteRow(queries, 'paramSets', id)
      t.equal(await countParamSets(queries, null), 0)
    },
  )

  void t.test('keeps rules on backends, each for the groups of its owner', async (t) => {
    const cast = await prepare(await factory.open(t))
    const { read, set, red, groups } = cast
    const own = { groupId: groups.own, organizationId: null }
    const rule = (health: string, of: readonly number[] | null) => ({
      backend: 'default',
      health,
      groups: of,
    })

    await set(red, { health: 'sick' })
    t.same(await read(), { health: [rule('sick', null)] }, 'no other owner is there')
    t.same(await read('red'), { health: [rule('sick', null)] })
    t.same(await read('red', 'own'), { health: [rule('sick', [groups.red])] })
    t.same(await read('own'), {}, 'it does not cover another owner’s groups')

    await set(all, { health: 'healthy', group: own })
    t.same((await read('red', 'own')).health, [
      rule('sick', [groups.red]),
      rule('healthy', [groups.own]),
    ])
    await set(red, { health: 'healthy' })
    t.equal((await read('red', 'own')).health?.length, 2, 'an invisible rule is not replaced')

    await set(all, { health: 'sick' })
    t.same(await read('red', 'own'), { health: [rule('sick', null)] }, 'scope all replaces all')
    await set(red, { health: 'auto' })
    t.same((await read('red', 'own')).health, [rule('sick', null), rule('auto', [groups.red])])
    await set(all, { health: 'auto', group: own })
    await set(all, { health: 'auto', group: own })
    t.same((await read('red', 'own')).health, [
      rule('sick', null),
      rule('auto', [groups.red]),
      rule('auto', [groups.own]),
    ])
    t.equal(await countSettings(cast.queries, cast.agentId), 3)
    await set(all, { health: 'auto' })
    t.same(await read('red', 'own'), {}, 'auto for all needs no rule')
    await set(all, { health: 'auto', group: own })
    t.equal(await countSettings(cast.queries, cast.agentId), 0)
  })
}

function readDesired(queries: Queries): Promise<{ desired: string; desiredRevision: number }[]> {
  return queries.selectFrom('agents').select(['desired', 'desiredRevision']).execute()
}
