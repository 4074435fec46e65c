/** Lists the objects of a noun: the rows that the call's query selects, with fields computed from other rows. */
import type { SelectQueryBuilder } from 'kysely'
import { parseListQuery, type ListFields, type ListValue } from '../../resources/list-query.js'
import type { Actor } from '../../resources/permission.js'
import { worstSeverity, type Problem } from '../../resources/problem.js'
import { FleetError, type ErrorKey } from '../../errors.js'
import { splitQuery, takeComputed, type ListParameters } from '../store/computed-list.js'
import type { ListColumns } from '../store/list-query.js'
import { readLongList, type LongListAnswer } from '../store/long-list.js'
import type { Tables } from '../store/schema.js'
import type { Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { scopeOf, type StateService } from '../service.js'

export interface Listing<TB extends keyof Tables, Row extends { readonly id: number }, Listed> {
  readonly columns: ListColumns
  /** For columns whose values depend on the caller; with the same names as `columns`. */
  readonly columnsFor?: (scope: Scope) => ListColumns
  /** Fields that are in no table. */
  readonly computed?: {
    readonly fields: ListFields
    readonly valuesOf: (listed: Listed, field: string) => readonly ListValue[]
  }
  readonly select: (
    queries: Queries,
    scope: Scope,
    now: number,
  ) => SelectQueryBuilder<Tables, TB, Row>
  /** Must keep the order of `rows`. */
  readonly read: (
    service: StateService,
    rows: Awaited<ReturnType<SelectQueryBuilder<Tables, TB, Row>['execute']>>,
    scope: Scope,
  ) => readonly Listed[] | Promise<readonly Listed[]>
}

interface Stated {
  readonly state: number
  readonly stateName: string
  readonly problems: readonly Problem[]
}

/** The computed fields of objects that have a state, as a number and a name, and problems. */
export function byState<Listed>(stateOf: (listed: Listed) => Stated) {
  return {
    fields: stateFields,
    valuesOf: (listed: Listed, field: string) => valuesOfState(stateOf(listed), field),
  } as const
}

export const stateFields = {
  state: { type: 'number' },
  stateName: { type: 'text' },
  severity: { type: 'number' },
  'problems.code': { type: 'nested' },
} as const satisfies ListFields

export function valuesOfState(
  { state, stateName, problems }: Stated,
  field: string,
): readonly ListValue[] {
  switch (field) {
    case 'state':
      return [state]
    case 'severity':
      return [worstSeverity(problems)]
    case 'problems.code':
      return problems.map(({ code }) => code)
    default:
      return [stateName]
  }
}

type Listable = Pick<Listing<never, never, never>, 'columns'> & {
  readonly computed?: { readonly fields: ListFields }
}

/** Returns the fields by which the list can be filtered and sorted. */
export function listFieldsOf({ columns, computed }: Listable): string[] {
  return Object.keys({ ...columns, ...computed?.fields })
}

export async function listObjects<
  TB extends keyof Tables,
  Row extends { readonly id: number },
  Listed,
>(
  service: StateService,
  actor: Actor,
  query: ListParameters,
  { noun, listing }: { readonly noun: ErrorKey; readonly listing: Listing<TB, Row, Listed> },
): Promise<LongListAnswer<Listed>> {
  const { computed } = listing
  const scope = scopeOf(actor)
  const columns = listing.columnsFor?.(scope) ?? listing.columns
  const list = parseListQuery(query, { ...columns, ...computed?.fields }, noun)
  const split = splitQuery(list, (field) => !(field in columns))
  const all = listing.select(service.store.queries, scope, service.now())
  const found = await readLongList(all, split.stored, columns, (rows) =>
    listing.read(service, rows, scope),
  )
  return computed ? takeComputed(split, found, computed.valuesOf) : found
}

/** Throws 'not-found'. */
export function requireFound<Found>(found: Found | undefined, noun: ErrorKey, id: number): Found {
  if (found === undefined) throw new FleetError('not-found', noun, `${id} was not found`)
  return found
}
