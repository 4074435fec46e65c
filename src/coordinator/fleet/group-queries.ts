/** VCL groups with the objects they refer to. A list is read with a constant number of queries. */
import { sql, type RawBuilder } from 'kysely'
import { named } from '../../resources/common-fields.js'
import type { Written } from '../../resources/resource.js'
import { namedDomain, vclGroup } from '../../resources/vclgroup.js'
import { parseSources, type ReleaseDomain, type Release } from './vcl-group.js'
import type { ListColumns } from '../store/list-query.js'
import { selectOwned } from '../store/owned-rows.js'
import { deleteRow, insertRow, updateRow } from '../store/write-rows.js'
import { ownedBy, type NamedReference } from '../store/owner.js'
import { holdQuota } from '../store/quotas.js'
import { listColumns, rowReader, toRow } from '../store/resource-rows.js'
import type { StoredRecord } from '../store/resource-rows.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import {
  deploymentLinks,
  domainLinks,
  includeLinks,
  insertLinks,
  linkedColumns,
  readLinks,
  replaceLinks,
  testLinks,
  type LinkedIds,
  type LinkRow,
} from './group-links.js'

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
  /** A deploy is in phase one. Read with `deployed`: the end of a deploy changes both. */
  readonly deploying: boolean
  readonly desiredRelease: Release | null
  /** The deploy was accepted although too few agents were available. */
  readonly deployPending: boolean
  /** Random, 32 hexadecimal digits; never shown. */
  readonly cacheKey: string
}

/** The fields that a caller may write; `root`: there are no domains. */
export type GroupFields = Written<typeof vclGroup.fields> &
  LinkedIds & {
    readonly root: boolean
    readonly mainFileId: number | null
    readonly mainFileVersion: number | null
  }

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
    .select(['files.name as mainFileName', oneIf(deployingGroup()).as('deploying')])
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
      deploying: row.deploying === 1,
      desiredRelease: parseRelease(row.wish),
      deployPending: row.wishPending === 1,
      cacheKey: row.cacheKey,
    }
  })
}

const readStored = rowReader(vclGroup.fields)

function toNamed({ id, word }: LinkRow): NamedReference {
  return { id, name: word }
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

/** Also during its first deploy. */
function deployedGroup(): RawBuilder<number> {
  return oneIf(sql`${sql.ref('vclGroups.deployed')} = 1 or ${deployingGroup()}`)
}

/** A stage deploys nothing. */
function deployingGroup(): RawBuilder<unknown> {
  return sql`exists (
    select 1 from ${sql.table('deploys')}
    where ${sql.ref('deploys.groupId')} = ${sql.ref('vclGroups.id')} and ${sql.ref('deploys.action')} <> 'stage'
  )`
}

/** Otherwise 0. Not a boolean, which PostgreSQL and SQLite print differently. */
function oneIf(condition: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`case when ${condition} then 1 else 0 end`
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
  await insertLinks(queries, id, { includeIds, testIds, domainIds, deploymentIds })
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
  await replaceLinks(queries, id, { includeIds, testIds, domainIds, deploymentIds })
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
