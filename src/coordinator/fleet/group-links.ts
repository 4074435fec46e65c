/** The ordered references of VCL groups, each kind in a table of its own: includes, tests, domains, deployments. */
import { expressionBuilder } from 'kysely'
import type { Fields } from '../../resources/resource.js'
import { groupBy } from '../../group-by.js'
import type { NestedColumn } from '../store/list-query.js'
import { nestedColumns } from '../store/resource-rows.js'
import type { Tables } from '../store/schema.js'
import type { Queries } from '../store/store.js'

/** A group's ordered references: their table, and the column shown for each. */
interface Links {
  readonly table: 'vclGroupIncludes' | 'vclGroupTests' | 'vclGroupDomains' | 'vclGroupDeployments'
  readonly key: 'fileId' | 'domainId' | 'deploymentId'
  readonly to: 'files' | 'domains' | 'deployments'
  readonly word: 'name' | 'fqdn'
}

export const includeLinks = {
  table: 'vclGroupIncludes',
  key: 'fileId',
  to: 'files',
  word: 'name',
} as const
export const testLinks = { ...includeLinks, table: 'vclGroupTests' } as const
export const domainLinks = {
  table: 'vclGroupDomains',
  key: 'domainId',
  to: 'domains',
  word: 'fqdn',
} as const
export const deploymentLinks = {
  table: 'vclGroupDeployments',
  key: 'deploymentId',
  to: 'deployments',
  word: 'name',
} as const

/**
 * Filters of a list by what its groups refer to. In the condition `files` is the include, not the main file that the list itself
 * joins.
 */
export function linkedColumns(name: string, fields: Fields, { table, key, to }: Links) {
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

export interface LinkRow {
  readonly groupId: number
  readonly id: number
  readonly word: string
}

/** References by group id. */
export async function readLinks(
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

/** Ids in the order of the references. */
export interface LinkedIds {
  readonly includeIds: readonly number[]
  readonly testIds: readonly number[]
  readonly domainIds: readonly number[]
  readonly deploymentIds: readonly number[]
}

/** For a group without references. */
export async function insertLinks(
  queries: Queries,
  groupId: number,
  { includeIds, testIds, domainIds, deploymentIds }: LinkedIds,
): Promise<void> {
  await insertLinked(queries, includeLinks, groupId, includeIds)
  await insertLinked(queries, testLinks, groupId, testIds)
  await insertLinked(queries, domainLinks, groupId, domainIds)
  await insertLinked(queries, deploymentLinks, groupId, deploymentIds)
}

export async function replaceLinks(
  queries: Queries,
  groupId: number,
  linked: LinkedIds,
): Promise<void> {
  for (const { table } of [includeLinks, testLinks, domainLinks, deploymentLinks])
    await queries.deleteFrom(table).where('groupId', '=', groupId).execute()
  await insertLinks(queries, groupId, linked)
}

async function insertLinked(
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
