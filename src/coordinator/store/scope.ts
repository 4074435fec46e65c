/**
 * Visibility filters: every query of organizations' tables uses them (docs/behaviour.md, Organizations).
 * The system administrator sees everything. Its own objects (organizationId null) are hidden from organizations, except its
 * agents: these are shared, and every organization sees them and their tags.
 */
import { sql, type Expression, type SqlBool } from 'kysely'
import type { Tables } from './schema.js'

export type Scope =
  | { readonly kind: 'all' }
  | { readonly kind: 'organization'; readonly organizationId: number }

/** The tables that have an organization column. */
export type ScopedTable = {
  [T in keyof Tables]: 'organizationId' extends keyof Tables[T] ? T : never
}[keyof Tables]

/** The condition for `where` of a select, an update or a delete: `query.where(within(scope, 'files'))`. */
export function within(scope: Scope, table: ScopedTable): Expression<SqlBool> {
  // better-sqlite3 cannot bind a boolean.
  if (scope.kind === 'all') return sql<SqlBool>`1 = 1`
  return sql<SqlBool>`${ownerColumn(table)} = ${scope.organizationId}`
}

/** The agents visible and usable for deploys: the organization's own and the shared ones. */
export function visibleAgents(scope: Scope): Expression<SqlBool> {
  if (scope.kind === 'all') return sql<SqlBool>`1 = 1`
  return sql<SqlBool>`(${within(scope, 'agents')} or ${ownerColumn('agents')} is null)`
}

/** The tags visible and usable in references: the organization's own and those of shared agents. */
export function visibleTags(scope: Scope): Expression<SqlBool> {
  if (scope.kind === 'all') return sql<SqlBool>`1 = 1`
  return sql<SqlBool>`(${within(scope, 'tags')} or (${ownerColumn('tags')} is null and exists (
    select 1 from ${sql.table('agentTags')}
    inner join ${sql.table('agents')} on ${sql.ref('agents.id')} = ${sql.ref('agentTags.agentId')}
    where ${sql.ref('agentTags.tagId')} = ${sql.ref('tags.id')} and ${ownerColumn('agents')} is null)))`
}

/** The visible events: the organization's own, and those of shared agents. The caller filters by type. */
export function visibleEvents(scope: Scope): Expression<SqlBool> {
  if (scope.kind === 'all') return sql<SqlBool>`1 = 1`
  return sql<SqlBool>`(${within(scope, 'events')} or ${sql.ref('events.sharedData')} is not null)`
}

/** The visible problems: of the organization's own objects, and of shared agents. The caller filters by type. */
export function visibleProblems(scope: Scope): Expression<SqlBool> {
  if (scope.kind === 'all') return sql<SqlBool>`1 = 1`
  return sql<SqlBool>`(${within(scope, 'openProblems')} or ${sql.ref('openProblems.sharedData')} is not null)`
}

/** The organization itself. */
export function visibleOrganizations(scope: Scope): Expression<SqlBool> {
  if (scope.kind === 'all') return sql<SqlBool>`1 = 1`
  return sql<SqlBool>`${sql.ref('organizations.id')} = ${scope.organizationId}`
}

/** The accounts of its users, and accounts that it created and that are users of no organization. */
export function visibleAccounts(scope: Scope): Expression<SqlBool> {
  if (scope.kind === 'all') return sql<SqlBool>`1 = 1`
  const uses = sql`select 1 from ${sql.table('users')}
    where ${sql.ref('users.accountId')} = ${sql.ref('accounts.id')}`
  return sql<SqlBool>`(exists (${uses} and ${within(scope, 'users')})
    or (${within(scope, 'accounts')} and not exists (${uses})))`
}

/** The owner of a new object. */
export function ownerOf(scope: Scope): number | null {
  return scope.kind === 'all' ? null : scope.organizationId
}

function ownerColumn(table: ScopedTable): Expression<number | null> {
  return sql.ref<number | null>(`${table}.organizationId`)
}

/** The scope of the objects that an object of this owner may use. */
export function scopeOfOwner(organizationId: number | null): Scope {
  return organizationId === null ? { kind: 'all' } : { kind: 'organization', organizationId }
}
