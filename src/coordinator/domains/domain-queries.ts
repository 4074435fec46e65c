/** Domains: the names that groups answer for, unique in an organization. */
import { parseSources, type WishedDomain } from '../fleet/vcl-group.js'
import { ownedBy, toOwner, type NamedReference } from '../store/owner.js'
import { holdQuota } from '../store/quotas.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

export interface DomainRecord {
  readonly id: number
  /** Null: the system administrator's own. */
  readonly organization: NamedReference | null
  readonly fqdn: string
  /** The set of `cachefleet apply` that it belongs to; null: none. */
  readonly managedBy: string | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** What a caller may write. */
type DomainFields = Pick<DomainRecord, 'fqdn' | 'managedBy'>

export function selectDomains(queries: Queries, scope: Scope) {
  return queries
    .selectFrom('domains')
    .leftJoin('organizations', 'organizations.id', 'domains.organizationId')
    .selectAll('domains')
    .select('organizations.name as organizationName')
    .where(within(scope, 'domains'))
}

export async function findDomain(
  queries: Queries,
  scope: Scope,
  id: number,
): Promise<DomainRecord | undefined> {
  const row = await selectDomains(queries, scope).where('domains.id', '=', id).executeTakeFirst()
  return row && fromRow(row)
}

/** In the order of the ids. */
export async function readDomainNames(
  queries: Queries,
  ids: readonly number[],
): Promise<WishedDomain[]> {
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
  fields: DomainFields,
  now: number,
): Promise<number> {
  const { id } = await queries
    .insertInto('domains')
    .values({ ...fields, organizationId: owner, createdAt: now, updatedAt: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  await holdQuota(queries, owner, 'domains')
  return id
}

export async function updateDomain(
  queries: Queries,
  id: number,
  fields: DomainFields,
  now: number,
): Promise<void> {
  await queries
    .updateTable('domains')
    .set({ ...fields, updatedAt: now })
    .where('id', '=', id)
    .execute()
}

/** The foreign key refuses it while a group has it. */
export async function deleteDomain(queries: Queries, id: number): Promise<void> {
  await queries.deleteFrom('domains').where('id', '=', id).execute()
}

/** Names of groups that have this domain, or are staged with it; at most `limit`. */
export async function readGroupsWithDomain(
  queries: Queries,
  id: number,
  limit: number,
): Promise<string[]> {
  const rows = await queries
    .selectFrom('vclGroups')
    .select('vclGroups.name')
    .where((e) =>
      e.or([
        e('id', 'in', e.selectFrom('vclGroupDomains').select('groupId').where('domainId', '=', id)),
        e('id', 'in', e.selectFrom('stageUses').select('groupId').where('domainId', '=', id)),
      ]),
    )
    .orderBy('vclGroups.id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.name)
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
    json !== null && parseSources(json).domains.some(({ id }: WishedDomain) => id === domain.id)
  return rows
    .filter((row) => [row.wish, row.sources, row.staged].some(isPinned))
    .map(({ name }) => name)
}

type DomainRow = Awaited<ReturnType<ReturnType<typeof selectDomains>['executeTakeFirstOrThrow']>>

export function fromRow(row: DomainRow): DomainRecord {
  return {
    id: row.id,
    organization: toOwner(row),
    fqdn: row.fqdn,
    managedBy: row.managedBy,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}
