/** VCL groups with the objects they refer to. A list is read with a constant number of queries. */
import { expressionBuilder, sql, type RawBuilder } from 'kysely'
import { named } from '../../resources/common-fields.js'
import type { Fields, Written } from '../../resources/resource.js'
import { namedDomain, vclGroup } from '../../resources/vclgroup.js'
import { parseSources, type ReleaseDomain, type Release } from './vcl-group.js'
import { groupBy } from '../../group-by.js'
import type { ListColumns, NestedColumn } from '../store/list-query.js'
import { selectOwned } from '../store/owned-rows.js'
import { deleteRow, insertRow, updateRow } from '../store/write-rows.js'
import { ownedBy, type NamedReference } from '../store/owner.js'
import { holdQuota } from '../store/quotas.js'
import { listColumns, nestedColumns, rowReader, toRow } from '../store/resource-rows.js'
import type { StoredRecord } from '../store/resource-rows.js'
import type { Tables } from '../store/schema.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export type GroupRecord = StoredRecord<typeof vclGroup.fields> & {
  readonly organizationId: number | null
  readonly root: boolean
  /** Null: a group of the console without VCL. */
  readonly mainFile: NamedReference | null
  /** Null: each deploy takes the newest. */
  readonly mainFileVersion: number | null
  readonly includes: readonly NamedReference[]
  readonly tests: readonly NamedReference[]
  /** Their current names; the deployed names are in the desired release. */
  readonly domains: readonly ReleaseDomain[]
  readonly deployments: readonly NamedReference[]
  /** Whether the group is to be deployed. */
  readonly deployed: boolean
  readonly desiredRelease: Release | null
  /** The deploy was accepted although too few agents were available. */
  readonly deployPending: boolean
  /** Random, 32 hexadecimal digits; never shown. */
  readonly cacheKey: string
}

/** The fields that a caller may write; `root`: there are no domains. */
export type GroupFields = Written<typeof vclGroup.fields> & {
  readonly root: boolean
  readonly mainFileId: number | null
  readonly mainFileVersion: number | null
  readonly includeIds: readonly number[]
  readonly testIds: readonly number[]
  readonly domainIds: readonly number[]
  readonly deploymentIds: readonly number[]
}

/** A group's ordered references: their table, and the column shown for each. */
interface Links {
  readonly table: 'vclGroupIncludes' | 'vclGroupTests' | 'vclGroupDomains' | 'vclGroupDeployments'
  readonly key: 'fileId' | 'domainId' | 'deploymentId'
  readonly to: 'files' | 'domains' | 'deployments'
  readonly word: 'name' | 'fqdn'
}

const includeLinks = {
  table: 'vclGroupIncludes',
  key: 'fileId',
  to: 'files',
  word: 'name',
} as const
const testLinks = { ...includeLinks, table: 'vclGroupTests' } as const
const domainLinks = {
  table: 'vclGroupDomains',
  key: 'domainId',
  to: 'domains',
  word: 'fqdn',
} as const
const deploymentLinks = {
  table: 'vclGroupDeployments',
  key: 'deploymentId',
  to: 'deployments',
  word: 'name',
} as const

export const groupColumns = {
  ...listColumns(vclGroup.fields, 'vclGroups'),
  root: { column: 'vclGroups.root', type: 'flag' },
  deployed: { column: deployedGroup(), type: 'flag' },
  'mainVCL.id': { column: 'files.id', type: 'number', nullable: true },
  'mainVCL.name': { column: 'files.name', type: 'text', nullable: true },
  ...linkedColumns('includes', named, includeLinks),
  ...linkedColumns('tests', named, testLinks),
  ...linkedColumns('domains', namedDomain, domainLinks),
  ...linkedColumns('deployments', named, deploymentLinks),
} satisfies ListColumns

/** In the condition `files` is the include, not the main file that the list itself joins. */
function linkedColumns(name: string, fields: Fields, { table, key, to }: Links) {
  const exists: NestedColumn['exists'] = (wanted) => {
    const [links, target] = [table as 'vclGroupIncludes', to as 'files']
    return expressionBuilder<Tables, 'vclGroups'>().exists((e) =>
      e
        .selectFrom(links)
        .innerJoin(target, `${target}.id`, `${links}.${key as 'fileId'}`)
        .select(`${links}.groupId`)
        .whereRef(`${links}.groupId`, '=', 'vclGroups.id')
        .where(wanted),
    )
  }
  return nestedColumns(name, { fields, table: to }, exists)
}

/** The groups to read; without ids all. */
interface GroupChoice {
  readonly ids?: readonly number[]
  readonly deployed?: boolean
}

export async function readGroups(
  queries: Queries,
  scope: Scope,
  choice: GroupChoice = {},
): Promise<GroupRecord[]> {
  let groups = selectOwned(queries, 'vclGroups', within(scope, 'vclGroups'))
    .leftJoin('files', 'files.id', 'vclGroups.mainFileId')
    .select('files.name as mainFileName')
    .orderBy('vclGroups.id')
  if (choice.ids) groups = groups.where('vclGroups.id', 'in', [...choice.ids])
  if (choice.deployed !== undefined)
    groups = groups.where('vclGroups.deployed', '=', choice.deployed ? 1 : 0)
  const rows = await groups.execute()
  const ids = rows.map((row) => row.id)
  const includes = await readLinks(queries, includeLinks, ids)
  const tests = await readLinks(queries, testLinks, ids)
  const domains = await readLinks(queries, domainLinks, ids)
  const deployments = await readLinks(queries, deploymentLinks, ids)
  return rows.map((row) => {
    const { mainFileId, mainFileName } = row
    return {
      ...readStored(row),
      organizationId: row.organizationId,
      root: row.root === 1,
      mainFile: mainFileId === null ? null : { id: mainFileId, name: mainFileName ?? '' }, // the foreign key holds
      mainFileVersion: row.mainFileVersion,
      includes: (includes.get(row.id) ?? []).map(toNamed),
      tests: (tests.get(row.id) ?? []).map(toNamed),
      domains: (domains.get(row.id) ?? []).map(({ id, word }) => ({ id, fqdn: word })),
      deployments: (deployments.get(row.id) ?? []).map(toNamed),
      deployed: row.deployed === 1,
      desiredRelease: parseRelease(row.wish),
      deployPending: row.wishPending === 1,
      cacheKey: row.cacheKey,
    }
  })
}

const readStored = rowReader(vclGroup.fields)

interface LinkRow {
  readonly groupId: number
  readonly id: number
  readonly word: string
}

function toNamed({ id, word }: LinkRow): NamedReference {
  return { id, name: word }
}

/** References by group id. */
async function readLinks(
  queries: Queries,
  { table, key, to, word }: Links,
  groupIds: readonly number[],
): Promise<ReadonlyMap<number, readonly LinkRow[]>> {
  if (groupIds.length === 0) return new Map()
  const [links, target] = [table as 'vclGroupIncludes', to as 'files']
  const rows = await queries
    .selectFrom(links)
    .innerJoin(target, `${target}.id`, `${links}.${key as 'fileId'}`)
    .select([`${links}.groupId`, `${target}.id`, `${target}.${word as 'name'} as word`])
    .where(`${links}.groupId`, 'in', [...groupIds])
    .orderBy(`${links}.position`)
    .execute()
  return groupBy(rows, (row) => row.groupId)
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

/** Finds the group of exactly this owner. */
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
 * 1 if it is to be deployed, also during its first deploy; else 0. Not a boolean condition, which PostgreSQL and SQLite
 * print differently.
 */
function deployedGroup(): RawBuilder<number> {
  return sql<number>`case when ${sql.ref('vclGroups.deployed')} = 1 or exists (
    select 1 from ${sql.table('deploys')} where ${sql.ref('deploys.groupId')} = ${sql.ref('vclGroups.id')}
  ) then 1 else 0 end`
}

/** For lists: joins the tables that they are filtered and sorted by (`groupColumns`). */
export function selectGroupIds(queries: Queries, scope: Scope) {
  return queries
    .selectFrom('vclGroups')
    .leftJoin('files', 'files.id', 'vclGroups.mainFileId')
    .leftJoin('organizations', 'organizations.id', 'vclGroups.organizationId')
    .select('vclGroups.id')
    .where(within(scope, 'vclGroups'))
}

/** Fields of a new group that cannot change later. */
type NewGroupKeys = Pick<GroupRecord, 'organizationId' | 'cacheKey'> &
  Partial<Pick<GroupRecord, 'console'>>

const undeployed = { deployed: false, revision: 0, wish: null, wishSha: null, wishPending: false }

export async function insertGroup(
  queries: Queries,
  { organizationId: owner, ...keys }: NewGroupKeys,
  { includeIds, testIds, domainIds, deploymentIds, ...fields }: GroupFields,
  now: number,
): Promise<number> {
  const row = { ...fields, ...toRow(vclGroup.fields, fields), ...keys, ...undeployed }
  const id = await insertRow(queries, 'vclGroups', { ...row, organizationId: owner }, now)
  await writeLinks(queries, id, { includeIds, testIds, domainIds, deploymentIds })
  await holdQuota(queries, owner, 'vclgroups')
  return id
}

export async function updateGroup(
  queries: Queries,
  id: number,
  { includeIds, testIds, domainIds, deploymentIds, ...fields }: GroupFields,
  now: number,
): Promise<void> {
  const row = { ...fields, ...toRow(vclGroup.fields, fields), updatedAt: now }
  await updateRow(queries, 'vclGroups', id, row)
  for (const { table } of [includeLinks, testLinks, domainLinks, deploymentLinks])
    await queries.deleteFrom(table).where('groupId', '=', id).execute()
  await writeLinks(queries, id, { includeIds, testIds, domainIds, deploymentIds })
}

async function writeLinks(
  queries: Queries,
  groupId: number,
  ids: Pick<GroupFields, 'includeIds' | 'testIds' | 'domainIds' | 'deploymentIds'>,
): Promise<void> {
  await insertLinks(queries, includeLinks, groupId, ids.includeIds)
  await insertLinks(queries, testLinks, groupId, ids.testIds)
  await insertLinks(queries, domainLinks, groupId, ids.domainIds)
  await insertLinks(queries, deploymentLinks, groupId, ids.deploymentIds)
}

async function insertLinks(
  queries: Queries,
  { table, key }: Links,
  groupId: number,
  ids: readonly number[],
): Promise<void> {
  if (ids.length === 0) return
  const rows = ids.map((id, position) => ({ groupId, [key as 'fileId']: id, position }))
  await queries
    .insertInto(table as 'vclGroupIncludes')
    .values(rows)
    .execute()
}

export async function deleteGroup(queries: Queries, id: number): Promise<void> {
  await deleteRow(queries, 'vclGroups', id)
}

/** Returns the deployments of the desired release: changes take effect at the next deploy. */
export function deploymentIdsOf({
  desiredRelease,
  deployments,
}: Pick<GroupRecord, 'desiredRelease' | 'deployments'>): readonly number[] {
  return desiredRelease?.deploymentIds ?? deployments.map(({ id }) => id)
}

/** The releases in force, like `deploymentIdsOf`. */
export function releasesOf({
  desiredRelease,
  releases,
}: Pick<GroupRecord, 'desiredRelease' | 'releases'>): readonly string[] | null {
  return desiredRelease === null ? releases : desiredRelease.releases
}

/** Across all organizations; 0 before the first. */
export async function readNewestGroupId(queries: Queries): Promise<number> {
  const row = await queries
    .selectFrom('vclGroups')
    .select((e) => e.fn.max('id').as('id'))
    .executeTakeFirst()
  return row?.id ?? 0
}

interface DesiredRelease {
  /** Null: not deployed. */
  readonly sources: Release | null
  readonly pending: boolean
  readonly revision: number
}

/** A deploy pins the release, an undeploy clears it. */
export async function writeDesiredRelease(
  queries: Queries,
  id: number,
  desired: DesiredRelease,
): Promise<void> {
  const { sources, pending: wishPending, revision } = desired
  await updateRow(queries, 'vclGroups', id, {
    deployed: sources !== null,
    wish: sources && JSON.stringify(sources),
    wishSha: sources?.sha ?? null,
    wishPending,
    revision,
  })
}

/** Reads the column, which only writeDesiredRelease writes. */
export function parseRelease(json: string | null): Release | null {
  return json === null ? null : parseSources(json)
}
