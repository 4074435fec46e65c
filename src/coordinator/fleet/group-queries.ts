/** VCL groups with what they refer to. A list is read with a constant number of queries. */
import { sql, type RawBuilder, type Selectable } from 'kysely'
import { parseSources, type WishedDomain, type WishedSources } from './vcl-group.js'
import { groupBy } from '../../group-by.js'
import { ownedBy, type NamedReference } from '../store/owner.js'
import { holdQuota } from '../store/quotas.js'
import type { Tables } from '../store/schema.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export interface GroupRecord {
  readonly id: number
  readonly organizationId: number | null
  readonly name: string
  readonly root: boolean
  readonly keepOnFailure: boolean
  /** Null: a group of the console without VCL. */
  readonly mainFile: NamedReference | null
  /** Null: the newest at each deploy. */
  readonly mainFileVersion: number | null
  readonly includes: readonly NamedReference[]
  /** As they are called now; what is deployed is in the wish. */
  readonly domains: readonly WishedDomain[]
  readonly deployments: readonly NamedReference[]
  /** The set of `cachefleet apply` that it belongs to; null: none. */
  readonly managedBy: string | null
  /** Its caches are named one by one, in the console; there alone it is changed. */
  readonly console: boolean
  /** The wish. */
  readonly deployed: boolean
  readonly revision: number
  readonly wish: WishedSources | null
  /** The wish was kept although too few agents were available. */
  readonly wishPending: boolean
  /** Random, 32 hexadecimal digits; shown to nobody. */
  readonly cacheKey: string
  readonly createdAt: number
  readonly updatedAt: number
}

/** What a caller may write; `root` says that there are no domains. */
export interface GroupFields {
  readonly name: string
  readonly root: boolean
  readonly keepOnFailure: boolean
  readonly mainFileId: number | null
  readonly mainFileVersion: number | null
  readonly includeIds: readonly number[]
  readonly domainIds: readonly number[]
  readonly deploymentIds: readonly number[]
  readonly managedBy: string | null
}

/** Whose groups, and which of them; without ids all. */
interface GroupChoice {
  readonly ids?: readonly number[]
  readonly deployed?: boolean
}

export async function readGroups(
  queries: Queries,
  scope: Scope,
  choice: GroupChoice = {},
): Promise<GroupRecord[]> {
  let groups = queries
    .selectFrom('vclGroups')
    .leftJoin('files', 'files.id', 'vclGroups.mainFileId')
    .selectAll('vclGroups')
    .select('files.name as mainFileName')
    .where(within(scope, 'vclGroups'))
    .orderBy('vclGroups.id')
  if (choice.ids) groups = groups.where('vclGroups.id', 'in', [...choice.ids])
  if (choice.deployed !== undefined)
    groups = groups.where('vclGroups.deployed', '=', choice.deployed ? 1 : 0)
  const rows = await groups.execute()
  const ids = rows.map((row) => row.id)
  const includes = await readIncludes(queries, ids)
  const domains = await readDomains(queries, ids)
  const deployments = await readDeployments(queries, ids)
  return rows.map((row) =>
    fromRow(row, {
      includes: includes.get(row.id) ?? [],
      domains: domains.get(row.id) ?? [],
      deployments: deployments.get(row.id) ?? [],
    }),
  )
}

export async function readDeployedGroupIds(queries: Queries): Promise<readonly number[]> {
  const groups = queries.selectFrom('vclGroups').select('id').where('deployed', '=', 1)
  return (await groups.orderBy('id').execute()).map(({ id }) => id)
}

export async function findGroup(
  queries: Queries,
  scope: Scope,
  id: number,
): Promise<GroupRecord | undefined> {
  return (await readGroups(queries, scope, { ids: [id] }))[0]
}

/** The one of exactly this owner. */
export async function findGroupNamed(
  queries: Queries,
  owner: number | null,
  name: string,
): Promise<GroupRecord | undefined> {
  const row = await queries
    .selectFrom('vclGroups')
    .select('id')
    .where('name', '=', name)
    .where(ownedBy(owner, 'vclGroups'))
    .executeTakeFirst()
  return row && findGroup(queries, { kind: 'all' }, row.id)
}

/**
 * 1 when it is to be deployed, also while its first deploy is under way; else 0. A condition is printed differently by
 * PostgreSQL and SQLite.
 */
export function deployedGroup(): RawBuilder<number> {
  return sql<number>`case when ${sql.ref('vclGroups.deployed')} = 1 or exists (
    select 1 from ${sql.table('deploys')} where ${sql.ref('deploys.groupId')} = ${sql.ref('vclGroups.id')}
  ) then 1 else 0 end`
}

/** For lists: joined with what they are filtered and sorted by (`groupColumns`). */
export function selectGroupIds(queries: Queries, scope: Scope) {
  return queries
    .selectFrom('vclGroups')
    .leftJoin('files', 'files.id', 'vclGroups.mainFileId')
    .leftJoin('organizations', 'organizations.id', 'vclGroups.organizationId')
    .select('vclGroups.id')
    .where(within(scope, 'vclGroups'))
}

/** What of a new group nobody can change later. */
type NewGroupKeys = Pick<GroupRecord, 'organizationId' | 'cacheKey'> &
  Partial<Pick<GroupRecord, 'console'>>

export async function insertGroup(
  queries: Queries,
  { organizationId, cacheKey, console = false }: NewGroupKeys,
  fields: GroupFields,
  now: number,
): Promise<number> {
  const { id } = await queries
    .insertInto('vclGroups')
    .values({
      ...toRow(fields),
      organizationId,
      deployed: 0,
      revision: 0,
      wish: null,
      wishSha: null,
      wishPending: 0,
      cacheKey,
      console: console ? 1 : 0,
      createdAt: now,
      updatedAt: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await writeReferences(queries, id, fields)
  await holdQuota(queries, organizationId, 'vclgroups')
  return id
}

export async function updateGroup(
  queries: Queries,
  id: number,
  fields: GroupFields,
  now: number,
): Promise<void> {
  await queries
    .updateTable('vclGroups')
    .set({ ...toRow(fields), updatedAt: now })
    .where('id', '=', id)
    .execute()
  await queries.deleteFrom('vclGroupIncludes').where('groupId', '=', id).execute()
  await queries.deleteFrom('vclGroupDomains').where('groupId', '=', id).execute()
  await queries.deleteFrom('vclGroupDeployments').where('groupId', '=', id).execute()
  await writeReferences(queries, id, fields)
}

export async function deleteGroup(queries: Queries, id: number): Promise<void> {
  await queries.deleteFrom('vclGroups').where('id', '=', id).execute()
}

/** Those of the wish: others take effect at the next deploy. */
export function deploymentIdsOf({
  wish,
  deployments,
}: Pick<GroupRecord, 'wish' | 'deployments'>): readonly number[] {
  return wish?.deploymentIds ?? deployments.map(({ id }) => id)
}

/** Of all organizations; 0 before the first. */
export async function readNewestGroupId(queries: Queries): Promise<number> {
  const row = await queries
    .selectFrom('vclGroups')
    .select((e) => e.fn.max('id').as('id'))
    .executeTakeFirst()
  return row?.id ?? 0
}

export interface Wish {
  /** Null: not deployed. */
  readonly sources: WishedSources | null
  readonly pending: boolean
  readonly revision: number
}

/** Writes the wish: a deploy pins it, an undeploy clears it. */
export async function writeWish(queries: Queries, id: number, wish: Wish): Promise<void> {
  await queries
    .updateTable('vclGroups')
    .set({
      deployed: wish.sources === null ? 0 : 1,
      wish: wish.sources === null ? null : JSON.stringify(wish.sources),
      wishSha: wish.sources?.sha ?? null,
      wishPending: wish.pending ? 1 : 0,
      revision: wish.revision,
    })
    .where('id', '=', id)
    .execute()
}

async function writeReferences(queries: Queries, groupId: number, fields: GroupFields) {
  const includes = fields.includeIds.map((fileId, position) => ({ groupId, fileId, position }))
  if (includes.length > 0) await queries.insertInto('vclGroupIncludes').values(includes).execute()
  const domains = fields.domainIds.map((domainId, position) => ({ groupId, domainId, position }))
  if (domains.length > 0) await queries.insertInto('vclGroupDomains').values(domains).execute()
  const deployments = fields.deploymentIds.map((deploymentId, position) => ({
    groupId,
    deploymentId,
    position,
  }))
  if (deployments.length > 0)
    await queries.insertInto('vclGroupDeployments').values(deployments).execute()
}

async function readIncludes(queries: Queries, ids: readonly number[]) {
  if (ids.length === 0) return new Map<number, never[]>()
  const rows = await queries
    .selectFrom('vclGroupIncludes')
    .innerJoin('files', 'files.id', 'vclGroupIncludes.fileId')
    .select(['vclGroupIncludes.groupId', 'files.id', 'files.name'])
    .where('vclGroupIncludes.groupId', 'in', [...ids])
    .orderBy('vclGroupIncludes.position')
    .execute()
  return groupBy(rows, (row) => row.groupId)
}

async function readDomains(queries: Queries, ids: readonly number[]) {
  if (ids.length === 0) return new Map<number, never[]>()
  const rows = await queries
    .selectFrom('vclGroupDomains')
    .innerJoin('domains', 'domains.id', 'vclGroupDomains.domainId')
    .select(['vclGroupDomains.groupId', 'domains.id', 'domains.fqdn'])
    .where('vclGroupDomains.groupId', 'in', [...ids])
    .orderBy('vclGroupDomains.position')
    .execute()
  return groupBy(rows, (row) => row.groupId)
}

async function readDeployments(queries: Queries, ids: readonly number[]) {
  if (ids.length === 0) return new Map<number, never[]>()
  const rows = await queries
    .selectFrom('vclGroupDeployments')
    .innerJoin('deployments', 'deployments.id', 'vclGroupDeployments.deploymentId')
    .select(['vclGroupDeployments.groupId', 'deployments.id', 'deployments.name'])
    .where('vclGroupDeployments.groupId', 'in', [...ids])
    .orderBy('vclGroupDeployments.position')
    .execute()
  return groupBy(rows, (row) => row.groupId)
}

function toRow(fields: GroupFields) {
  return {
    name: fields.name,
    root: fields.root ? (1 as const) : (0 as const),
    keepOnFailure: fields.keepOnFailure ? (1 as const) : (0 as const),
    mainFileId: fields.mainFileId,
    mainFileVersion: fields.mainFileVersion,
    managedBy: fields.managedBy,
  }
}

function fromRow(
  row: Selectable<Tables['vclGroups']> & { mainFileName: string | null },
  references: {
    readonly includes: readonly NamedReference[]
    readonly domains: readonly WishedDomain[]
    readonly deployments: readonly NamedReference[]
  },
): GroupRecord {
  return {
    id: row.id,
    organizationId: row.organizationId,
    name: row.name,
    root: row.root === 1,
    keepOnFailure: row.keepOnFailure === 1,
    mainFile: row.mainFileId === null ? null : { id: row.mainFileId, name: row.mainFileName ?? '' }, // the foreign key holds
    mainFileVersion: row.mainFileVersion,
    includes: references.includes.map(({ id, name }) => ({ id, name })),
    domains: references.domains.map(({ id, fqdn }) => ({ id, fqdn })),
    deployments: references.deployments.map(({ id, name }) => ({ id, name })),
    managedBy: row.managedBy,
    console: row.console === 1,
    deployed: row.deployed === 1,
    revision: row.revision,
    wish: parseWish(row.wish),
    wishPending: row.wishPending === 1,
    cacheKey: row.cacheKey,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}

/** Reads the column, which writeWish alone writes. */
export function parseWish(json: string | null): WishedSources | null {
  return json === null ? null : parseSources(json)
}
