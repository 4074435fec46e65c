/**
 * Whose objects a query may see: every query of organizations' tables goes through here (choices: 2).
 * The system administrator sees all; its own objects (organizationId null) are visible to nobody else.
 */
import type { ExpressionWrapper, SqlBool } from 'kysely'
import { expressionBuilder } from 'kysely'
import type { Tables } from './schema.js'

export type Scope =
  { readonly kind: 'all' } | { readonly kind: 'organization'; readonly organizationId: number }

/** The tables that have an organization column. */
export type ScopedTable = {
  [T in keyof Tables]: 'organizationId' extends keyof Tables[T] ? T : never
}[keyof Tables]

/** The condition for `where`: `query.where(within(scope, 'files'))`. */
export function within<T extends ScopedTable>(
  scope: Scope,
  table: T,
): ExpressionWrapper<Tables, T, SqlBool> {
  const e = expressionBuilder<Tables, ScopedTable>()
  if (scope.kind === 'all') return e.val(true) as never
  return e(`${table}.organizationId`, '=', scope.organizationId) as never
}

/** The organization that a new object belongs to. */
export function ownerOf(scope: Scope): number | null {
  return scope.kind === 'all' ? null : scope.organizationId
}
