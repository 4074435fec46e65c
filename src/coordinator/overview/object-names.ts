/** Reads the names of the objects in an overview, of any type, as far as the caller may see them. */
import { sql, type Expression, type SqlBool } from 'kysely'
import type { PermissionType } from '../../resources/permission.js'
import {
  visibleAccounts,
  visibleAgents,
  visibleOrganizations,
  visibleTags,
  within,
  type Scope,
} from '../store/scope.js'
import type { Tables } from '../store/schema.js'
import type { Queries } from '../store/store.js'

/** A type of objects with names: the permission to read it, its table, and the visibility filter. */
interface NamedTable {
  readonly permission: PermissionType
  readonly table: keyof Tables
  readonly column?: 'fqdn'
  readonly visible: (scope: Scope) => Expression<SqlBool>
}

/** Keyed by type, as in `errorKey`. */
export const namedTables = {
  agent: { permission: 'agent', table: 'agents', visible: visibleAgents },
  tag: { permission: 'tag', table: 'tags', visible: visibleTags },
  file: { permission: 'file', table: 'files', visible: (scope) => within(scope, 'files') },
  deployment: {
    permission: 'deployment',
    table: 'deployments',
    visible: (scope) => within(scope, 'deployments'),
  },
  domain: {
    permission: 'domain',
    table: 'domains',
    column: 'fqdn',
    visible: (scope) => within(scope, 'domains'),
  },
  vclgroup: {
    permission: 'vclgroup',
    table: 'vclGroups',
    visible: (scope) => within(scope, 'vclGroups'),
  },
  certificate: {
    permission: 'certificate',
    table: 'certificates',
    visible: (scope) => within(scope, 'certificates'),
  },
  webhook: {
    permission: 'webhook',
    table: 'webhooks',
    visible: (scope) => within(scope, 'webhooks'),
  },
  organization: { permission: 'org', table: 'organizations', visible: visibleOrganizations },
  account: { permission: 'account', table: 'accounts', visible: visibleAccounts },
} as const satisfies Readonly<Record<string, NamedTable>>

type NamedType = keyof typeof namedTables

export function isNamedType(type: string): type is NamedType {
  return Object.hasOwn(namedTables, type)
}

/** Returns names by id, only of objects that still exist and that the caller may see. */
export async function readNames(
  queries: Queries,
  scope: Scope,
  { table, column, visible }: NamedTable,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await queries
    .selectFrom(table as 'files')
    .select(sql.ref<number>(`${table}.id`).as('id'))
    .select(sql.ref<string>(`${table}.${column ?? 'name'}`).as('name'))
    .where(sql.ref<number>(`${table}.id`), 'in', [...ids])
    .where(visible(scope))
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}
