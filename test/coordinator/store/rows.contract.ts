/** How every store keeps rows, run for each database: constraints, ids, values, order, scope. Lists: `list.contract.ts`. */
import { sql } from 'kysely'
import type { Test } from 'tap'
import {
  visibleAgents,
  visibleTags,
  within,
  type Scope,
} from '../../../src/coordinator/store/scope.js'
import {
  isForeignKeyViolation,
  isUniqueViolation,
} from '../../../src/coordinator/store/violation.js'
import {
  addAgent,
  addDeployment,
  addFile,
  addGroup,
  addOrganization,
  addPlacement,
  addTag,
  bearTag,
} from './rows.js'
import type { StoreFactory } from './store.contract.js'

export function rowsContract(t: Test, factory: StoreFactory): void {
  void t.test('a name is unique in an organization, and among objects of none', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    const first = await addOrganization(queries, 'first')
    const second = await addOrganization(queries, 'second')
    for (const owner of [null, first, second]) await addTag(queries, 'edge', owner)

    for (const owner of [null, first, second]) {
      const again = await failure(addTag(queries, 'edge', owner))
      t.ok(isUniqueViolation(again) && !isForeignKeyViolation(again), String(owner))
    }
    t.ok(await addTag(queries, 'Edge'), 'another case is another name')
    t.ok(await addFile(queries, 'edge'), 'another type')
    await addAgent(queries, 'agent')
    t.ok(isUniqueViolation(await failure(addAgent(queries, 'agent', { keyDigest: 'other' }))))
    t.ok(
      isUniqueViolation(
        await failure(addAgent(queries, 'other', { keyDigest: 'digest of agent' })),
      ),
    )
    t.ok(
      isUniqueViolation(await failure(store.transaction((inside) => addTag(inside, 'edge')))),
      'inside a transaction',
    )
  })

  void t.test(
    'referenced rows exist and stay; dependent rows are deleted with their owner',
    async (t) => {
      const { queries } = await factory.open(t)
      const file = await addFile(queries, 'main.vcl')
      const group = await addGroup(queries, 'shop', file)
      const agent = await addAgent(queries, 'edge-1')
      const deployment = await addDeployment(queries, 'all')
      const tag = await addTag(queries, 'eu')
      await bearTag(queries, agent, tag)
      await addPlacement(queries, group, agent, deployment)
      await queries
        .insertInto('deploymentTags')
        .values({ deploymentId: deployment, tagId: tag })
        .execute()

      const refused: Record<string, () => Promise<unknown>> = {
        'a tag for nobody': () => addTag(queries, 'x', 999),
        'a file of a group': () => queries.deleteFrom('files').where('id', '=', file).execute(),
        'a tag of a deployment': () => queries.deleteFrom('tags').where('id', '=', tag).execute(),
        'a placed group': () => queries.deleteFrom('vclGroups').where('id', '=', group).execute(),
        'a used deployment': () =>
          queries.deleteFrom('deployments').where('id', '=', deployment).execute(),
      }
      for (const [name, work] of Object.entries(refused))
        t.ok(isForeignKeyViolation(await failure(work())), name)

      await queries.deleteFrom('agents').where('id', '=', agent).execute()
      t.strictSame(await queries.selectFrom('placements').selectAll().execute(), [])
      t.strictSame(await queries.selectFrom('agentTags').selectAll().execute(), [])
      await queries.deleteFrom('deployments').where('id', '=', deployment).execute()
      await queries.deleteFrom('tags').where('id', '=', tag).execute()
    },
  )

  void t.test('a group has one place on an agent', async (t) => {
    const { queries } = await factory.open(t)
    const group = await addGroup(queries, 'shop', await addFile(queries, 'main.vcl'))
    const agent = await addAgent(queries, 'edge-1')
    await addPlacement(queries, group, agent, await addDeployment(queries, 'one'))

    const again = addPlacement(queries, group, agent, await addDeployment(queries, 'two'))

    t.ok(isUniqueViolation(await failure(again)))
  })

  void t.test('never reuses an id', async (t) => {
    const { queries } = await factory.open(t)
    const first = await addTag(queries, 'first')
    const newest = await addTag(queries, 'newest')
    await queries.deleteFrom('tags').execute()

    const next = await addTag(queries, 'next')

    t.ok(first < newest && newest < next, `${first} ${newest} ${next}`)
  })

  void t.test('returns texts, times, flags and nulls unchanged', async (t) => {
    const { queries } = await factory.open(t)
    const far = 8_640_000_000_000_000
    const text = `é 🦊 \u0001 ' " \\ % ${'x'.repeat(2 << 20)}`
    const name = '🦊'.repeat(255)
    const id = await addAgent(queries, name, {
      desired: JSON.stringify({ text }),
      lastHeartbeatAt: far,
      createdAt: 0,
      engineWorkingDirectory: '',
    })

    const row = await queries
      .selectFrom('agents')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()

    t.strictSame(JSON.parse(row.desired), { text })
    t.strictSame(
      [row.name, row.lastHeartbeatAt, row.createdAt, row.engineWorkingDirectory, row.drift],
      [name, far, 0, '', null],
    )
    const tag = await addTag(queries, 'eu')
    await bearTag(queries, id, tag)
    t.strictSame(await queries.selectFrom('agentTags').selectAll().execute(), [
      { agentId: id, tagId: tag, static: 0, assigned: 1 },
    ])
  })

  void t.test('counts, sums and changed rows have the same number types everywhere', async (t) => {
    const { queries } = await factory.open(t)
    for (const name of ['a', 'b']) await addTag(queries, name, null, 5_000_000_000)

    const answer = await queries
      .selectFrom('tags')
      .select((e) => [
        e.fn.countAll<number>().as('count'),
        e.fn.sum<number>('createdAt').as('sum'),
        e.fn.max('createdAt').as('max'),
      ])
      .executeTakeFirstOrThrow()
    const [changed] = await queries.updateTable('tags').set({ updatedAt: 1 }).execute()

    t.strictSame(answer, { count: 2, sum: 10_000_000_000, max: 5_000_000_000 })
    t.equal(changed?.numUpdatedRows, 2n)
    t.strictSame(
      (await sql`select iso_time(${sql.lit(1_767_323_045_007)}) as text`.execute(queries)).rows,
      [{ text: '2026-01-02T03:04:05.007Z' }],
    )
  })

  void t.test('sorts by bytes, whatever the locale of the host', async (t) => {
    const { queries } = await factory.open(t)
    const names = ['b', 'a', 'B', 'é', '🦊', '\uffee', '_', 'a b', 'ab', 'A', '10', '9']
    for (const name of names) await addTag(queries, name)

    const rows = await queries.selectFrom('tags').select('name').orderBy('name').execute()

    t.strictSame(
      rows.map((row) => row.name),
      names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    )
  })

  void t.test('a scope applies to reading, changing and deleting', async (t) => {
    const { queries } = await factory.open(t)
    const mine = scopeFor(await addOrganization(queries, 'mine'))
    const other = scopeFor(await addOrganization(queries, 'other'))
    await addTag(queries, 'a', mine.organizationId)
    await addTag(queries, 'b', other.organizationId)
    await addTag(queries, 'c')
    const names = async (scope: Scope): Promise<string[]> =>
      (
        await queries
          .selectFrom('tags')
          .select('name')
          .where(within(scope, 'tags'))
          .orderBy('id')
          .execute()
      ).map((row) => row.name)

    t.strictSame(await names(mine), ['a'])
    t.strictSame(await names({ kind: 'all' }), ['a', 'b', 'c'])

    await queries.updateTable('tags').set({ name: 'A' }).where(within(mine, 'tags')).execute()
    t.strictSame(await names({ kind: 'all' }), ['A', 'b', 'c'])

    await queries.deleteFrom('tags').where(within(other, 'tags')).execute()
    t.strictSame(await names({ kind: 'all' }), ['A', 'c'])
    t.strictSame(await names(scopeFor(999)), [])
  })

  void t.test('every organization sees shared agents and their tags', async (t) => {
    const { queries } = await factory.open(t)
    const mine = scopeFor(await addOrganization(queries, 'mine'))
    const other = scopeFor(await addOrganization(queries, 'other'))
    const shared = await addAgent(queries, 'shared')
    await addAgent(queries, 'mine', { organizationId: mine.organizationId })
    const others = await addAgent(queries, 'other', { organizationId: other.organizationId })
    await bearTag(queries, shared, await addTag(queries, 'shared'))
    await addTag(queries, 'mine', mine.organizationId)
    await bearTag(queries, others, await addTag(queries, 'other', other.organizationId))
    await addTag(queries, 'administrator')
    const seen = async (scope: Scope): Promise<string[][]> => {
      const agents = queries.selectFrom('agents').where(visibleAgents(scope))
      const tags = queries.selectFrom('tags').where(visibleTags(scope))
      const rows = [
        await agents.select('name').orderBy('id').execute(),
        await tags.select('name').orderBy('id').execute(),
      ]
      return rows.map((list) => list.map((row) => row.name))
    }

    t.strictSame(await seen(mine), [
      ['shared', 'mine'],
      ['shared', 'mine'],
    ])
    t.strictSame(await seen(other), [
      ['shared', 'other'],
      ['shared', 'other'],
    ])
    t.strictSame(await seen({ kind: 'all' }), [
      ['shared', 'mine', 'other'],
      ['shared', 'mine', 'other', 'administrator'],
    ])
  })
}

function scopeFor(organizationId: number): Scope & { organizationId: number } {
  return { kind: 'organization', organizationId }
}

async function failure(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
    return 'it did not fail'
  } catch (error) {
    return error
  }
}
