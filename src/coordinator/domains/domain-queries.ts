/** Domains: the names that groups answer for, unique in an organization. */
import { domain } from '../../resources/domain.js'
import type { Written } from '../../resources/resource.js'
import { readingOf } from '../api/noun-reading.js'
import { parseSources, type ReleaseDomain } from '../fleet/vcl-group.js'
import { selectOwned } from '../store/owned-rows.js'
import { insertRow } from '../store/write-rows.js'
import { ownedBy } from '../store/owner.js'
import { holdQuota } from '../store/quotas.js'
import { listColumns, rowReader, type StoredRecord } from '../store/resource-rows.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export type DomainRecord = StoredRecord<typeof domain.fields>

const domainColumns = listColumns(domain.fields, 'domains')

export const toDomain = rowReader(domain.fields)

export function selectDomains(queries: Queries, scope: Scope) {
  return selectOwned(queries, 'domains', within(scope, 'domains'))
}

export const domainReading = readingOf({
  noun: 'domain',
  select: selectDomains,
  columnsFor: () => domainColumns,
  toRecords: (rows) => rows.map(toDomain),
})

/** In the order of the ids. */
export async function readDomainNames(
  queries: Queries,
  ids: readonly number[],
): Promise<ReleaseDomain[]> {
  if (ids.length === 0) return []
  const rows = await queries
    .selectFrom('domains')
    .select(['id', 'fqdn'])
    .where('id', 'in', [...ids])
    .execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

export async function insertDomain(
  queries: Queries,
  owner: number | null,
  fields: Written<typeof domain.fields>,
  now: number,
): Promise<number> {
  const id = await insertRow(queries, 'domains', { ...fields, organizationId: owner }, now)
  await holdQuota(queries, owner, 'domains')
  return id
}

/** Names of the owner's groups that are deployed or staged with this domain, or are about to: it was pinned. */
export async function readGroupsDeployedWith(
  queries: Queries,
  domain: Pick<DomainRecord, 'id' | 'organization'>,
): Promise<string[]> {
  const rows = await queries
    .selectFrom('vclGroups')
    .leftJoin('deploys', 'deploys.groupId', 'vclGroups.id')
    .leftJoin('stages', 'stages.groupId', 'vclGroups.id')
    .select(['vclGroups.name', 'vclGroups.wish', 'deploys.sources', 'stages.sources as staged'])
    .where(ownedBy(domain.organization?.id ?? null, 'vclGroups'))
    .where((e) =>
      e.or([
        e('vclGroups.deployed', '=', 1),
        e('deploys.id', 'is not', null),
        e('stages.groupId', 'is not', null),
      ]),
    )
    .orderBy('vclGroups.id')
    .execute()
  const isPinned = (json: string | null): boolean =>
    json !== null && parseSources(json).domains.some(({ id }: ReleaseDomain) => id === domain.id)
  return rows
    .filter((row) => [row.wish, row.sources, row.staged].some(isPinned))
    .map(({ name }) => name)
}
