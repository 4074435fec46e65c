/** Tags, and who may see them: those of the organization, and those that a shared agent bears (choices: 2, Who). */
import { expressionBuilder, type Expression, type SqlBool } from 'kysely'
import { ownedBy, toOwner, type NamedReference } from './owner.js'
import type { Tables } from './schema.js'
import { within, type Scope } from './scope.js'
import type { Queries } from './store.js'

export interface TagRecord {
  readonly id: number
  /** Null: the system administrator's own. */
  readonly organization: NamedReference | null
  readonly name: string
  /** An agent sends it now. */
  readonly static: boolean
  readonly createdAt: number
  readonly updatedAt: number
}

export async function findTag(
  queries: Queries,
  scope: Scope,
  id: number,
): Promise<TagRecord | undefined> {
  const row = await selectTags(queries, scope).where('tags.id', '=', id).executeTakeFirst()
  return row && fromRow(row)
}

export function selectTags(queries: Queries, scope: Scope) {
  return queries
    .selectFrom('tags')
    .leftJoin('organizations', 'organizations.id', 'tags.organizationId')
    .selectAll('tags')
    .select('organizations.name as organizationName')
    .select(staticTag().as('static'))
    .where(visibleTag(scope))
}

/** An agent sends this tag now. */
export function staticTag() {
  const e = expressionBuilder<Tables, 'tags'>()
  return e.exists(
    e
      .selectFrom('agentTags')
      .select('agentTags.tagId')
      .whereRef('agentTags.tagId', '=', 'tags.id')
      .where('agentTags.static', '=', 1),
  )
}

/** The tag is the scope's own, or borne by a shared agent. */
function visibleTag(scope: Scope): Expression<SqlBool> {
  return scope.kind === 'all'
    ? within(scope, 'tags')
    : expressionBuilder<Tables, 'tags'>().or([within(scope, 'tags'), sharedTag()])
}

function sharedTag(): Expression<SqlBool> {
  const e = expressionBuilder<Tables, 'tags'>()
  return e.exists(
    e
      .selectFrom('agentTags')
      .innerJoin('agents', 'agents.id', 'agentTags.agentId')
      .select('agentTags.tagId')
      .whereRef('agentTags.tagId', '=', 'tags.id')
      .where('agents.organizationId', 'is', null),
  )
}

/** Which of these ids an object of `owner` may refer to: the owner's own tags and those of shared agents. */
export async function readUsableTagIds(
  queries: Queries,
  owner: number | null,
  ids: readonly number[],
): Promise<number[]> {
  const rows = await queries
    .selectFrom('tags')
    .select('id')
    .where('id', 'in', [...ids])
    .where((e) => e.or([ownedBy(owner, 'tags'), sharedTag()]))
    .execute()
  return rows.map((row) => row.id)
}

export async function insertTag(
  queries: Queries,
  owner: number | null,
  name: string,
  now: number,
): Promise<number> {
  const { id } = await queries
    .insertInto('tags')
    .values({ organizationId: owner, name, createdAt: now, updatedAt: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function renameTag(
  queries: Queries,
  id: number,
  name: string,
  now: number,
): Promise<void> {
  await queries.updateTable('tags').set({ name, updatedAt: now }).where('id', '=', id).execute()
}

/** Deletes the tag and takes it from agents; the foreign key refuses it while a deployment has it. */
export async function deleteTag(queries: Queries, id: number): Promise<void> {
  await queries.deleteFrom('agentTags').where('tagId', '=', id).execute()
  await queries.deleteFrom('tags').where('id', '=', id).execute()
}

/** Names of deployments that have this tag; at most `limit`. */
export async function readDeploymentsWithTag(
  queries: Queries,
  id: number,
  limit: number,
): Promise<string[]> {
  const rows = await queries
    .selectFrom('deployments')
    .innerJoin('deploymentTags', 'deploymentTags.deploymentId', 'deployments.id')
    .select('deployments.name')
    .where('deploymentTags.tagId', '=', id)
    .orderBy('deployments.id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.name)
}

type TagRow = Awaited<ReturnType<ReturnType<typeof selectTags>['executeTakeFirstOrThrow']>>

function fromRow(row: TagRow): TagRecord {
  return {
    id: row.id,
    organization: toOwner(row),
    name: row.name,
    static: Boolean(row.static), // 1 on SQLite, true on PostgreSQL
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}
