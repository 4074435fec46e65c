/** Lists with computed fields, which are derived from other rows: `state` of groups and deployments. */
import {
  everything,
  takeFromList,
  type ListQuery,
  type ListValue,
} from '../../resources/list-query.js'
import type { LongListAnswer } from './long-list.js'

/** The parameters of the query string. */
export type ListParameters = Readonly<Record<string, string | readonly string[] | undefined>>

export interface ListAnswer<Row> {
  readonly rows: readonly Row[]
  /** Number of rows that match the filters, before `take`. */
  readonly total: number
}

export interface SplitQuery {
  /** For the tables; the whole query if it names no computed field. */
  readonly stored: ListQuery
  /** For the rows read from the tables; null when there is nothing left to do. */
  readonly computed: ListQuery | null
}

/** The computed part filters, sorts and takes in memory, so the stored part then has no `take`. */
export function splitQuery(list: ListQuery, isComputed: (field: string) => boolean): SplitQuery {
  const filters = list.filters.filter(({ field }) => isComputed(field))
  const sortsComputed = list.sort !== null && isComputed(list.sort.field)
  if (filters.length === 0 && !sortsComputed) return { stored: list, computed: null }
  return {
    stored: {
      ...everything,
      filters: list.filters.filter(({ field }) => !isComputed(field)),
      sort: sortsComputed ? null : list.sort,
    },
    computed: { filters, sort: sortsComputed ? list.sort : null, take: list.take },
  }
}

/** Applies the computed part of `splitQuery`, which loads all rows into memory. */
export async function takeComputed<Row>(
  { computed }: SplitQuery,
  stored: LongListAnswer<Row>,
  valuesOf: (row: Row, field: string) => readonly ListValue[],
): Promise<LongListAnswer<Row>> {
  if (computed === null) return stored
  const rows: Row[] = []
  for await (const row of stored.rows) rows.push(row)
  return takeFromList(rows, computed, valuesOf)
}
