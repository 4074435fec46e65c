/** A list in SQL must return what the same query takes from the same rows in memory. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { sql } from 'kysely'
import type { Test } from 'tap'
import {
  parseListQuery,
  takeFromList,
  type ListQuery,
  type ListValue,
} from '../../../src/resources/list-query.js'
import {
  readList,
  readListed,
  readListIds,
  type ListColumns,
} from '../../../src/coordinator/store/list-query.js'
import type { Queries } from '../../../src/coordinator/store/store.js'
import { listQueryOf, patternOf, shortText } from '../../support/list-arbitraries.js'
import { addAgent, addTag, bearTag } from './rows.js'
import type { StoreFactory } from './store.contract.js'

const words = { Running: 1, Failing: 2, Down: 3, ReadOnly: 4, Locked: 5 }

const agentColumns: ListColumns = {
  id: { column: 'agents.id', type: 'number' },
  name: { column: 'agents.name', type: 'text' },
  quoted: { column: sql`'"' || ${sql.ref('agents.name')} || '"'`, type: 'text' },
  error: { column: 'agents.engineError', type: 'text', nullable: true },
  port: { column: 'agents.enginePort', type: 'number' },
  effective: { column: 'agents.effectiveRevision', type: 'number', nullable: true },
  lastHeartbeat: { column: 'agents.lastHeartbeatAt', type: 'time' },
  attempted: { column: 'agents.attemptedAt', type: 'time', nullable: true },
  even: { column: sql`${sql.ref('agents.enginePort')} % 2`, type: 'flag' },
  stateName: { column: 'agents.state', type: 'choice', choices: words },
  'tags.name': {
    type: 'nested',
    of: { column: 'tags.name', type: 'text' },
    exists: (condition) => sql`exists (
      select 1 from ${sql.table('agentTags')}
      inner join ${sql.table('tags')} on ${sql.ref('tags.id')} = ${sql.ref('agentTags.tagId')}
      where ${sql.ref('agentTags.agentId')} = ${sql.ref('agents.id')} and ${condition})`,
  },
}

interface Agent {
  readonly id: number
  readonly name: string
  readonly error: string | null
  readonly port: number
  readonly effective: number | null
  readonly lastHeartbeatAt: number
  readonly attemptedAt: number | null
  readonly state: number
  readonly tags: readonly string[]
}

export function listContract(t: Test, factory: StoreFactory): void {
  void t.test('any list query returns what it takes from the same rows in memory', async (t) => {
    const { queries } = await factory.open(t)
    const agents = await fillAgents(queries)

    await fc.assert(
      fc.asyncProperty(anyList(agents), async (list) => {
        const { rows, total } = await readAgents(queries, list)
        const wanted = takeFromList(agents, list, valuesOf)
        const answer = { ids: rows.map((row) => row.id), total }
        assert.deepEqual(answer, { ids: wanted.rows.map((agent) => agent.id), total: wanted.total })
      }),
      { numRuns: 300 },
    )
  })

  void t.test('the ids of a list, and the rows of these ids, equal the list', async (t) => {
    const { queries } = await factory.open(t)
    const agents = await fillAgents(queries)
    const select = queries.selectFrom('agents').select(['id', 'name'])

    await fc.assert(
      fc.asyncProperty(anyList(agents), async (list) => {
        const whole = { ...list, take: null }
        const { rows } = await readAgents(queries, whole)
        const ids = await readListIds(select, whole, agentColumns)
        assert.deepEqual(
          ids,
          rows.map(({ id }) => id),
        )
        if (ids.length === 0) return
        const shown = await readListed(select, [...ids, 987_654_321], agentColumns)
        assert.deepEqual(
          shown.map(({ id }) => id),
          ids,
        )
      }),
      { numRuns: 100 },
    )
  })

  void t.test('only * is a wildcard, and a filter does not shorten nested lists', async (t) => {
    const { queries } = await factory.open(t)
    await fillAgents(queries)
    const names = async (query: Record<string, string>) => {
      const list = parseListQuery(query, agentColumns, 'agent')
      return (await readAgents(queries, list)).rows.map((row) => row.name)
    }

    t.strictSame(await names({ name: 'EDGE-1' }), [])
    t.strictSame(await names({ name: 'edge-1*', sort: 'name:desc' }), [
      'edge-12',
      'edge-11',
      'edge-10',
      'edge-1',
    ])
    t.strictSame(await names({ name: '%' }), ['%'])
    t.strictSame(await names({ name: 'edge_1,edge-?,edge-[0-9],(edge.*)' }), [])
    t.strictSame(await names({ name: 'nul\0,nul\0*' }), [])
    t.strictSame(await names({ lastHeartbeat: '2026-01-02T03:04:05.003Z' }), ['edge-3'])
    t.strictSame(await names({ lastHeartbeat: '2026-01-02T03:04:05.01*Z', name: 'edge-*' }), [
      'edge-10',
      'edge-11',
      'edge-12',
    ])
    t.strictSame(await names({ lastHeartbeat: '2026-01-02T03:04:05.003' }), [])
    t.strictSame(await names({ port: '6083,06084,6e3,x', name: 'edge-*' }), ['edge-2'])
    t.strictSame(await names({ stateName: 'R*', name: 'edge-0,edge-1,edge-3' }), [
      'edge-0',
      'edge-3',
    ])
    t.strictSame(await names({ name: `${'x,'.repeat(999)}edge-5` }), ['edge-5'])
    t.strictSame(await names({ id: '9007199254740993,99999999999999999999' }), [])
  })

  void t.test('totals are right when the page suffices, and past the end', async (t) => {
    const { queries } = await factory.open(t)
    const { length } = await fillAgents(queries)
    const page = async (take: string) => {
      const { rows, total } = await readAgents(
        queries,
        parseListQuery({ take }, agentColumns, 'agent'),
      )
      return [rows.length, total]
    }

    t.strictSame(await page('5'), [5, length])
    t.strictSame(await page(`1000,${length - 2}`), [2, length])
    t.strictSame(await page(`2,${length - 2}`), [2, length])
    t.strictSame(await page('5,999999999999999'), [0, length])
  })
}

/** Agents with awkward names, and every value in more than one row. */
async function fillAgents(queries: Queries): Promise<Agent[]> {
  const names = Array.from({ length: 13 }, (_, at) => `edge-${at}`)
  const awkward = [
    '%',
    '_',
    '~',
    'a*b',
    'a,b',
    'a\\b',
    'a~%b',
    'A',
    'a',
    'é',
    'É',
    '🦊',
    '[a]',
    "'",
    '^a',
    'null',
  ]
  const tags = await Promise.all(['a', 'A', 'é', 'a*b', ''].map((name) => addTag(queries, name)))
  for (const [at, name] of [...names, ...awkward].entries()) {
    const id = await addAgent(queries, name, {
      engineError: at % 4 === 0 ? null : (awkward[(at * 5) % awkward.length] ?? null),
      enginePort: 6081 + (at % 7) * (at % 2 === 0 ? 1 : 2) - (at % 2),
      effectiveRevision: at % 3 === 0 ? null : at,
      lastHeartbeatAt: Date.UTC(2026, 0, 2, 3, 4, 5, at),
      attemptedAt: at % 5 === 0 ? null : Date.UTC(1970 + at, at % 12, 28 + (at % 4)),
      state: (at % 5) + 1,
    })
    for (const [of, tag] of tags.entries()) if (at % (of + 2) === 1) await bearTag(queries, id, tag)
  }
  const rows = await queries.selectFrom('agents').selectAll().orderBy('id').execute()
  const bears = await queries
    .selectFrom('agentTags')
    .innerJoin('tags', 'tags.id', 'agentTags.tagId')
    .select(['agentTags.agentId', 'tags.name'])
    .execute()
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    error: row.engineError,
    port: row.enginePort,
    effective: row.effectiveRevision,
    lastHeartbeatAt: row.lastHeartbeatAt,
    attemptedAt: row.attemptedAt,
    state: row.state,
    tags: bears.filter((bear) => bear.agentId === row.id).map((bear) => bear.name),
  }))
}

function readAgents(queries: Queries, list: ListQuery) {
  return readList(
    queries.selectFrom('agents').select(['agents.id', 'agents.name']),
    list,
    agentColumns,
  )
}

function valuesOf(agent: Agent, field: string): readonly ListValue[] {
  const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())
  const values: Record<string, readonly ListValue[]> = {
    id: [agent.id],
    name: [agent.name],
    quoted: [`"${agent.name}"`],
    error: [agent.error],
    port: [agent.port],
    effective: [agent.effective],
    lastHeartbeat: [iso(agent.lastHeartbeatAt)],
    attempted: [iso(agent.attemptedAt)],
    even: [agent.port % 2 === 1],
    stateName: Object.entries(words).flatMap(([word, state]) =>
      state === agent.state ? [word] : [],
    ),
    'tags.name': agent.tags,
  }
  return values[field] ?? []
}

function anyList(agents: readonly Agent[]): fc.Arbitrary<ListQuery> {
  /** Pieces of existing values, so that patterns match now and then. */
  const pieces = (field: string) => {
    const texts = agents.flatMap((agent) => valuesOf(agent, field).map(String))
    const piece = fc
      .tuple(fc.constantFrom(...texts), fc.nat(24), fc.nat(24))
      .map(([text, from, length]) =>
        Array.from(text)
          .slice(from, from + length)
          .join(''),
      )
    return fc.oneof(
      patternOf(piece),
      fc.constantFrom(...texts).map((text): [string] => [text]),
      patternOf(shortText),
    )
  }
  const fields = Object.keys(agentColumns)
  return listQueryOf({
    filters: Object.fromEntries(fields.map((field) => [field, pieces(field)])),
    sortable: fields.filter((field) => field !== 'tags.name'),
  })
}
