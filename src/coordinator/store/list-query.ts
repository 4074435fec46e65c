/**
 * The list conventions (`src/resources/list-query.ts`) as SQL, the same on both databases: columns come from the caller's
 * declaration, texts are parameters, patterns become LIKE with an escape (case-sensitive on SQLite by a pragma).
 */
import { sql, type Expression, type SelectQueryBuilder, type SqlBool } from 'kysely'
import {
  matchesPattern,
  type Filter,
  type ListQuery,
  type Pattern,
} from '../../resources/list-query.js'
import type { Tables } from './schema.js'

/** `agents.name`: a column with its table, which the query must not alias. */
export type TableColumn = {
  [T in keyof Tables]: `${T}.${Extract<keyof Tables[T], string>}`
}[keyof Tables]

/** One value per row. `nullable` columns print null as `null`, which sorts first. */
export interface PlainColumn {
  readonly column: TableColumn | Expression<unknown>
  /** `flag`: 0 or 1, printed as false or true. `time`: milliseconds, printed as ISO text. */
  readonly type: 'text' | 'number' | 'flag' | 'time'
  readonly nullable?: boolean
}

/** A stored value shown as one of a few words: maps each word to its stored value. */
interface ChoiceColumn {
  readonly column: TableColumn | Expression<unknown>
  readonly type: 'choice'
  readonly choices: Readonly<Record<string, number | string>>
  readonly nullable?: boolean
}

/** Several values per row: the row is listed if one that meets the condition `exists`. */
export interface NestedColumn {
  readonly type: 'nested'
  readonly of: PlainColumn
  readonly exists: (condition: Expression<SqlBool>) => Expression<SqlBool>
}

type ListColumn = PlainColumn | ChoiceColumn | NestedColumn

/** The fields that a list can be filtered and sorted by: API field (`name`, `tags.name`) → column. */
export type ListColumns = Readonly<Record<string, ListColumn>> & { readonly id: PlainColumn }

/**
 * Runs a query with its own scope, joins and selection that returns one row per object. `total` counts the rows that
 * match the filters, before `take`; it needs a second query only if the rows do not determine it.
 */
export async function readList<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  list: ListQuery,
  columns: ListColumns,
): Promise<{
  rows: Awaited<ReturnType<SelectQueryBuilder<DB, TB, Row>['execute']>>
  total: number
}> {
  const filtered = query.where(filterCondition(list.filters, columns))
  const sorted = sortQuery(filtered, list.sort, columns)
  if (list.take === null) {
    const rows = await sorted.execute()
    return { rows, total: rows.length }
  }
  const { limit, offset } = list.take
  const rows = await sorted.limit(limit).offset(offset).execute()
  const known = rows.length < limit && (rows.length > 0 || offset === 0)
  return { rows, total: known ? offset + rows.length : await countRows(filtered) }
}

/** Returns the ids of the whole list, in its order. */
export async function readListIds<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  list: ListQuery,
  columns: ListColumns,
): Promise<number[]> {
  const filtered = query.where(filterCondition(list.filters, columns))
  const rows = await sortQuery(filtered, list.sort, columns)
    .clearSelect()
    .select(sql<number>`${reference(columns.id)}`.as('id'))
    .$castTo<{ id: number }>()
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Returns the rows of the list's query with these ids, in their order; deleted rows are omitted. `ids` must not be empty:
 * PostgreSQL has no empty `in ()`.
 */
export async function readListed<DB, TB extends keyof DB, Row extends { readonly id: number }>(
  query: SelectQueryBuilder<DB, TB, Row>,
  ids: readonly number[],
  columns: ListColumns,
): Promise<Awaited<ReturnType<SelectQueryBuilder<DB, TB, Row>['execute']>>> {
  const wanted = sql<SqlBool>`${reference(columns.id)} in (${sql.join(ids)})`
  const rows = await query.where(wanted).execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** A row must match every filter, by any of its patterns. */
export function filterCondition(
  filters: readonly Filter[],
  columns: ListColumns,
): Expression<SqlBool> {
  const conditions = filters.map(({ field, anyOf }) => {
    const column = columns[field]
    if (column === undefined) throw new Error(`the list has no column for its field ${field}`)
    return column.type === 'nested'
      ? column.exists(columnCondition(column.of, anyOf))
      : columnCondition(column, anyOf)
  })
  return conditions.length === 0 ? sql<SqlBool>`1 = 1` : sql`(${sql.join(conditions, sql` and `)})`
}

function sortQuery<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  sort: ListQuery['sort'],
  columns: ListColumns,
): SelectQueryBuilder<DB, TB, Row> {
  const id = reference(columns.id)
  if (sort === null) return query.orderBy(id)
  const column = columns[sort.field]
  if (column === undefined || column.type === 'nested')
    throw new Error(`the list cannot be sorted by ${sort.field}`)
  const value = column.type === 'choice' ? rankOfChoice(column) : reference(column)
  return query
    .orderBy(value, (order) => {
      const directed = sort.descending ? order.desc() : order.asc()
      // The databases sort null differently. Stated only for nullable columns, as it may prevent the use of an index.
      if (column.nullable !== true) return directed
      return sort.descending ? directed.nullsLast() : directed.nullsFirst()
    })
    .orderBy(id)
}

async function countRows<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
): Promise<number> {
  const { total } = await query
    .clearSelect()
    .select(sql<number>`count(*)`.as('total'))
    .$castTo<{ total: number }>()
    .executeTakeFirstOrThrow()
  return total
}

function columnCondition(
  column: PlainColumn | ChoiceColumn,
  anyOf: readonly Pattern[],
): Expression<SqlBool> {
  const conditions: Expression<SqlBool>[] = []
  const value = reference(column)
  const stored = storedValues(column, anyOf)
  if (stored.length > 0) conditions.push(sql`${value} in (${sql.join(stored)})`)
  if (column.type === 'text' || column.type === 'number' || column.type === 'time') {
    const text = textOf(column)
    for (const pattern of anyOf)
      if (pattern.length > 1 && isPossible(pattern))
        conditions.push(sql`${text} like ${likePattern(pattern)} escape '~'`)
  }
  if (column.nullable === true && anyOf.some((pattern) => matchesPattern(pattern, 'null')))
    conditions.push(sql`${value} is null`)
  return conditions.length === 0 ? sql`1 = 0` : sql`(${sql.join(conditions, sql` or `)})`
}

/** The stored values of patterns without a wildcard (of words: all patterns): an index can find these. */
function storedValues(
  column: PlainColumn | ChoiceColumn,
  anyOf: readonly Pattern[],
): (string | number)[] {
  if (column.type === 'flag') return chosenValues({ false: 0, true: 1 }, anyOf)
  if (column.type === 'choice') return chosenValues(column.choices, anyOf)
  const exact = anyOf.filter((pattern) => pattern.length === 1 && isPossible(pattern))
  const texts = exact.map(([text]) => text)
  switch (column.type) {
    case 'text':
      return texts
    case 'number':
      return texts.map(Number).filter((number, at) => String(number) === texts[at])
    case 'time':
      return texts.map(Date.parse).filter((ms, at) => isoText(ms) === texts[at])
  }
}

function chosenValues(
  choices: Readonly<Record<string, number | string>>,
  anyOf: readonly Pattern[],
): (string | number)[] {
  return Object.entries(choices)
    .filter(([word]) => anyOf.some((pattern) => matchesPattern(pattern, word)))
    .map(([, stored]) => stored)
}

/** PostgreSQL rejects NUL in texts, so none is stored. */
function isPossible(pattern: Pattern): boolean {
  return !pattern.some((piece) => piece.includes('\0'))
}

function isoText(ms: number): string | null {
  return Number.isNaN(ms) ? null : new Date(ms).toISOString()
}

function reference(column: PlainColumn | ChoiceColumn): Expression<unknown> {
  return typeof column.column === 'string' ? sql.ref(column.column) : column.column
}

/** The value as printed in JSON, without quotes. `iso_time` is defined in each database's own file. */
function textOf(column: PlainColumn): Expression<unknown> {
  const value = reference(column)
  if (column.type === 'time') return sql`iso_time(${value})`
  return column.type === 'number' ? sql`cast(${value} as text)` : value
}

function likePattern(pattern: Pattern): string {
  return pattern.map((piece) => piece.replaceAll(/[~%_]/g, '~$&')).join('%')
}

/** Sorts words by their bytes, independent of the stored values. */
function rankOfChoice(column: ChoiceColumn): Expression<unknown> {
  const words = Object.keys(column.choices).toSorted((a, b) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  )
  // The ranks are literals: PostgreSQL would treat parameters as texts.
  const whens = words.map((word, rank) => sql`when ${column.choices[word]} then ${sql.lit(rank)}`)
  return sql`case ${reference(column)} ${sql.join(whens, sql` `)} end`
}
