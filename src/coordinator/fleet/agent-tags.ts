/** The tags of agents and their origin: sent by the agent itself (static), assigned through the API (assigned), or both. */
import { sql } from 'kysely'
import { groupBy } from '../../group-by.js'
import { gatherReads } from '../store/gathered-reads.js'
import { prepareQuery } from '../store/prepared-query.js'
import { holdQuota } from '../store/quotas.js'
import { listGiven, listIds, prepareGiven, writeIds } from '../store/given-rows.js'
import { inPieces } from '../store/in-pieces.js'
import type { Queries } from '../store/store.js'

export interface AgentTag {
  readonly id: number
  readonly name: string
  /** This agent sends it. */
  readonly static: boolean
  /** It was assigned to this agent through the API. */
  readonly assigned: boolean
  readonly createdAt: number
  readonly updatedAt: number
}

/** One query per thousand agents; tags sorted by id. */
export async function readTagsOfAgents(
  queries: Queries,
  agentIds: readonly number[],
): Promise<Map<number, AgentTag[]>> {
  const rows = await inPieces(agentIds, (ids) => selectSome(queries, [writeIds(ids)]))
  const byAgent = groupBy(rows, ({ agentId }) => agentId)
  return new Map([...byAgent].map(([agentId, tags]) => [agentId, tags.map(toAgentTag)]))
}

/** Reads the agents' names and tag ids; two queries per thousand agents. */
export async function readNamedAgentTags(
  queries: Queries,
  agentIds: readonly number[],
): Promise<
  readonly { readonly id: number; readonly name: string; readonly tagIds: readonly number[] }[]
> {
  const tags = await readTagsOfAgents(queries, agentIds)
  const agents = await inPieces(agentIds, (ids) =>
    queries.selectFrom('agents').select(['id', 'name']).where('id', 'in', ids).execute(),
  )
  return agents.map(({ id, name }) => ({
    id,
    name,
    tagIds: (tags.get(id) ?? []).map((tag) => tag.id),
  }))
}

const selectSome = prepareQuery((queries) =>
  selectTagsOfAgents(queries).where('agentTags.agentId', 'in', listIds([])),
)

const readOne = prepareQuery((queries) =>
  selectTagsOfAgents(queries).where('agentTags.agentId', '=', 0),
)

/** Sorted by id. */
export async function readTagsOfAgent(queries: Queries, agentId: number): Promise<AgentTag[]> {
  return (await readOne(queries, [agentId])).map(toAgentTag)
}

function selectTagsOfAgents(queries: Queries) {
  return queries
    .selectFrom('agentTags')
    .innerJoin('tags', 'tags.id', 'agentTags.tagId')
    .select(['agentTags.agentId', 'agentTags.static', 'agentTags.assigned'])
    .select(['tags.id', 'tags.name', 'tags.createdAt', 'tags.updatedAt'])
    .orderBy('tags.id')
}

type TagRow = Awaited<ReturnType<ReturnType<typeof selectTagsOfAgents>['executeTakeFirstOrThrow']>>

function toAgentTag({ id, name, createdAt, updatedAt, ...row }: TagRow): AgentTag {
  return { id, name, static: row.static === 1, assigned: row.assigned === 1, createdAt, updatedAt }
}

const readStaticNames = gatherReads(
  (queries) =>
    queries
      .selectFrom('agentTags')
      .innerJoin('tags', 'tags.id', 'agentTags.tagId')
      .select(['agentTags.agentId', 'tags.name'])
      .where('agentTags.agentId', 'in', listIds([]))
      .where('agentTags.static', '=', sql.lit(1)),
  ({ agentId }) => agentId,
)

export async function readStaticTagNames(queries: Queries, agentId: number): Promise<string[]> {
  return (await readStaticNames(queries, agentId)).map((row) => row.name)
}

/** Returns the tag ids of these names in one organization; creates missing tags. Names are unique there. */
export async function keepTags(
  queries: Queries,
  organizationId: number | null,
  names: readonly string[],
  now: number,
): Promise<number[]> {
  if (names.length === 0) return []
  const wanted = [...new Set(names)]
  const known = await readTagIds(queries, organizationId, wanted)
  if (known.length === wanted.length) return known
  const made = await queries
    .insertInto('tags')
    .values(wanted.map((name) => ({ organizationId, name, createdAt: now, updatedAt: now })))
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  if (made.numInsertedOrUpdatedRows) await holdQuota(queries, organizationId, 'tags')
  return readTagIds(queries, organizationId, wanted)
}

async function readTagIds(
  queries: Queries,
  organizationId: number | null,
  names: readonly string[],
): Promise<number[]> {
  const owned =
    organizationId === null
      ? sql`"organizationId" is null`
      : sql`"organizationId" = ${organizationId}`
  const given = listGiven(
    ['text'],
    names.map((name) => [name]),
  )
  const { rows } = await sql<{ readonly id: number }>`
    select id from tags where ${owned} and name in (${given}) order by id`.execute(queries)
  return rows.map((row) => row.id)
}

/** Returns the tags that still exist. */
export async function readExistingTags(
  queries: Queries,
  ids: readonly number[],
): Promise<number[]> {
  if (ids.length === 0) return []
  const rows = await queries
    .selectFrom('tags')
    .select('id')
    .where('id', 'in', [...ids])
    .orderBy('id')
    .execute()
  return rows.map((row) => row.id)
}

/** The tags that the agent sends now replace those it sent before; assigned tags stay. */
export async function replaceStaticTags(
  queries: Queries,
  agentId: number,
  tagIds: readonly number[],
): Promise<void> {
  await queries
    .updateTable('agentTags')
    .set({ static: 0 })
    .where('agentId', '=', agentId)
    .where('static', '=', 1)
    .execute()
  await addTags(queries, agentId, tagIds, { static: 1 })
  await forgetUnborne(queries, agentId)
}

/** Makes the tags sent so far assigned, so that they stay whatever the agent sends next. */
export async function giveStaticTags(queries: Queries, agentId: number): Promise<void> {
  await queries
    .updateTable('agentTags')
    .set({ static: 0, assigned: 1 })
    .where('agentId', '=', agentId)
    .where('static', '=', 1)
    .execute()
}

export async function removeStaticTag(
  queries: Queries,
  agentId: number,
  tagId: number,
): Promise<void> {
  await queries
    .updateTable('agentTags')
    .set({ static: 0 })
    .where('agentId', '=', agentId)
    .where('tagId', '=', tagId)
    .execute()
  await forgetUnborne(queries, agentId)
}

export interface BorneTag {
  readonly agentId: number
  readonly tagId: number
  readonly static: boolean
  readonly assigned: boolean
}

const insertBorne = prepareGiven(
  { agentId: 'bigint', tagId: 'bigint', static: 'bigint', assigned: 'bigint' },
  (given) => sql`
    insert into "agentTags" ("agentId", "tagId", static, assigned)
      select ${given.agentId}, ${given.tagId}, ${given.static}, ${given.assigned} ${given.from}`,
)

/** For agents without tags. */
export async function addFirstTags(queries: Queries, tags: readonly BorneTag[]): Promise<void> {
  await insertBorne(
    queries,
    tags.map((tag) => ({
      ...tag,
      static: Number(tag.static),
      assigned: Number(tag.assigned),
    })),
  )
}

export function addAssignedTags(
  queries: Queries,
  agentId: number,
  tagIds: readonly number[],
): Promise<void> {
  return addTags(queries, agentId, tagIds, { assigned: 1 })
}

/** `because`: added to any other origin that the tag already has on the agent. */
export async function addTags(
  queries: Queries,
  agentId: number,
  tagIds: readonly number[],
  because: { readonly static: 1 } | { readonly assigned: 1 },
): Promise<void> {
  if (tagIds.length === 0) return
  const isStatic = 'static' in because
  const given = listGiven(
    ['bigint'],
    tagIds.map((id) => [id]),
  )
  await sql`
    with given("tagId") as (${given})
    insert into "agentTags" ("agentId", "tagId", static, assigned)
    select cast(${agentId} as bigint), "tagId", ${sql.raw(isStatic ? '1, 0' : '0, 1')} from given where true
    on conflict ("agentId", "tagId") do update set ${sql.raw(isStatic ? 'static' : 'assigned')} = 1`.execute(
    queries,
  )
}

/** Static tags stay, and listing one does not assign it (docs/behaviour.md, Tags). */
export async function replaceAssignedTags(
  queries: Queries,
  agentId: number,
  tagIds: readonly number[],
): Promise<void> {
  const borne = (await readTagsOfAgents(queries, [agentId])).get(agentId) ?? []
  const staticOnly = new Set(borne.filter((tag) => tag.static && !tag.assigned).map(({ id }) => id))
  await queries
    .updateTable('agentTags')
    .set({ assigned: 0 })
    .where('agentId', '=', agentId)
    .where('assigned', '=', 1)
    .execute()
  const given = [...new Set(tagIds)].filter((id) => !staticOnly.has(id))
  await addAssignedTags(queries, agentId, given)
  await forgetUnborne(queries, agentId)
}

async function forgetUnborne(queries: Queries, agentId: number): Promise<void> {
  await queries
    .deleteFrom('agentTags')
    .where('agentId', '=', agentId)
    .where('static', '=', 0)
    .where('assigned', '=', 0)
    .execute()
}
