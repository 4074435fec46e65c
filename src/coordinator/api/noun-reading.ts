/** Reads the objects of a noun: their list, a single object, and an object again after it was written. */
import type { SelectQueryBuilder } from 'kysely'
import type { Actor } from '../../resources/permission.js'
import type { ErrorKey } from '../../errors.js'
import { scopeOf, type StateService } from '../service.js'
import { readListed, type ListColumns } from '../store/list-query.js'
import type { Tables } from '../store/schema.js'
import type { Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { requireFound, type Listing } from './list-objects.js'

interface Source<TB extends keyof Tables, Row, Found> {
  readonly noun: ErrorKey
  /** Selects the rows visible in this scope, with all columns that `toRecords` needs. */
  readonly select: (queries: Queries, scope: Scope) => SelectQueryBuilder<Tables, TB, Row>
  readonly columnsFor: (scope: Scope) => ListColumns
  /** Called with a batch of rows; must keep their order. */
  readonly toRecords: (
    rows: readonly Row[],
    queries: Queries,
    scope: Scope,
  ) => readonly Found[] | Promise<readonly Found[]>
}

interface Reading<TB extends keyof Tables, Row extends { readonly id: number }, Found> {
  readonly listing: Listing<TB, Row, Found>
  readonly find: (queries: Queries, scope: Scope, id: number) => Promise<Found | undefined>
  /** Reads an object that was just written. Throws 'not-found' if it was deleted meanwhile. */
  readonly readAgain: (service: StateService, actor: Actor, id: number) => Promise<Found>
}

export function readingOf<TB extends keyof Tables, Row extends { readonly id: number }, Found>({
  noun,
  select,
  columnsFor,
  toRecords,
}: Source<TB, Row, Found>): Reading<TB, Row, Found> {
  const find = async (queries: Queries, scope: Scope, id: number) => {
    const rows = await readListed(select(queries, scope), [id], columnsFor(scope))
    const [found] = rows.length === 0 ? [] : await toRecords(rows, queries, scope)
    return found
  }
  return {
    listing: {
      columns: columnsFor({ kind: 'all' }),
      columnsFor,
      select,
      read: ({ store }, rows, scope) => toRecords(rows, store.queries, scope),
    },
    find,
    readAgain: async ({ store }, actor, id) =>
      requireFound(await find(store.queries, scopeOf(actor), id), noun, id),
  }
}
