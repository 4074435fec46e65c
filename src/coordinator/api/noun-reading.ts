/** How the objects of a noun are read: its list, one of them, and one again after it was written. */
import type { SelectQueryBuilder } from 'kysely'
import { parseListQuery } from '../../resources/list-query.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError, type ErrorKey } from '../../errors.js'
import { scopeOf, type StateService } from '../service.js'
import type { ListParameters } from '../store/computed-list.js'
import { readListed, type ListColumns } from '../store/list-query.js'
import { readLongList, type LongListAnswer } from '../store/long-list.js'
import type { Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

interface Source<DB, TB extends keyof DB, Row, Found> {
  readonly noun: ErrorKey
  /** What this scope may see, with all that `toRecords` needs. */
  readonly select: (queries: Queries, scope: Scope) => SelectQueryBuilder<DB, TB, Row>
  readonly columnsFor: (scope: Scope) => ListColumns
  /** Of some rows at a time; their order stays. */
  readonly toRecords: (
    rows: readonly Row[],
    queries: Queries,
    scope: Scope,
  ) => readonly Found[] | Promise<readonly Found[]>
}

export interface Reading<Found> {
  /** What the list can be filtered and sorted by. */
  readonly listFields: readonly string[]
  readonly list: (
    service: StateService,
    actor: Actor,
    query: ListParameters,
  ) => Promise<LongListAnswer<Found>>
  readonly find: (service: StateService, actor: Actor, id: number) => Promise<Found | undefined>
  readonly findWithin: (queries: Queries, scope: Scope, id: number) => Promise<Found | undefined>
  /** Of what was just written. Throws 'not-found' when somebody was faster to delete it. */
  readonly readAgain: (service: StateService, actor: Actor, id: number) => Promise<Found>
}

export function readingOf<DB, TB extends keyof DB, Row extends { readonly id: number }, Found>({
  noun,
  select,
  columnsFor,
  toRecords,
}: Source<DB, TB, Row, Found>): Reading<Found> {
  const findWithin = async (queries: Queries, scope: Scope, id: number) => {
    const rows = await readListed(select(queries, scope), [id], columnsFor(scope))
    const [found] = rows.length === 0 ? [] : await toRecords(rows as Row[], queries, scope)
    return found
  }
  const find = ({ store }: StateService, actor: Actor, id: number) =>
    findWithin(store.queries, scopeOf(actor), id)
  return {
    listFields: Object.keys(columnsFor({ kind: 'all' })),
    list: ({ store: { queries } }, actor, query) => {
      const scope = scopeOf(actor)
      const columns = columnsFor(scope)
      const list = parseListQuery(query, columns, noun)
      return readLongList(select(queries, scope), list, columns, (rows) =>
        toRecords(rows as Row[], queries, scope),
      )
    },
    find,
    findWithin,
    readAgain: async (service, actor, id) => {
      const found = await find(service, actor, id)
      if (!found) throw new FleetError('not-found', noun, `${id} was not found`)
      return found
    },
  }
}
