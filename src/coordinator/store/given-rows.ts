/**
 * Rows that a statement is given as one parameter, JSON that both databases unpack alike. Its text is the same however many rows
 * there are: it is composed with a handful of nodes and prepared once, where a list of `values` is new each time.
 */
import { sql, type RawBuilder } from 'kysely'
import { inPieces } from './in-pieces.js'
import { prepareQuery } from './prepared-query.js'
import type { Queries } from './store.js'

export type GivenType = 'bigint' | 'text'
type GivenColumns = Readonly<Record<string, GivenType>>
type GivenValue = number | string | null
type GivenRow<Columns extends GivenColumns> = {
  readonly [name in keyof Columns]: ValueOf<Columns[name]>
}
type ValueOf<Type extends GivenType> = 'text' extends Type
  ? 'bigint' extends Type
    ? GivenValue
    : string | null
  : number | null

/** The value of each column, and where they are from: `select ${value} ${from}`, `update … set … ${from} where …`. */
type Given<Columns extends GivenColumns> = {
  readonly [name in keyof Columns]: RawBuilder<unknown>
} & { readonly from: RawBuilder<unknown> }

/** A statement that is given rows; answers what it returns, piece by piece of the rows. No column is called `from`. */
export function prepareGiven<Columns extends GivenColumns, Row>(
  columns: Columns,
  compose: (given: Given<Columns>) => RawBuilder<Row>,
): (queries: Queries, rows: readonly GivenRow<Columns>[]) => Promise<Row[]> {
  const names = Object.keys(columns)
  const run = prepareQuery((queries) => ({
    compile: () => compose(nameColumns(columns)).compile(queries),
  }))
  return (queries, rows) =>
    inPieces(rows, (piece) =>
      run(queries, [numberRows(piece.map((row) => names.map((name) => row[name] ?? null)))]),
    )
}

function nameColumns<Columns extends GivenColumns>(columns: Columns): Given<Columns> {
  const names = Object.keys(columns)
  const values = names.map((name) => [name, sql.ref(`given.${name}`)] as const)
  const items = Object.values(columns).map(readItem)
  const named = sql.join(
    names.map((name, at) => sql`${sql.raw(items[at] ?? '')} as ${sql.ref(name)}`),
  )
  const from = sql`from (select ${named} from json_each(${numberRows([])})) as given`
  return { ...Object.fromEntries(values), from } as Given<Columns> // a value for each column
}

function readItem(type: GivenType, at: number): string {
  return type === 'text' ? `value ->> ${at}` : `cast(value ->> ${at} as ${type})`
}

/** A `select` of rows, for a statement that is not run often. */
export function listGiven(
  types: readonly GivenType[],
  rows: readonly (readonly GivenValue[])[],
): RawBuilder<unknown> {
  const columns = types.map(readItem)
  return sql`select ${sql.raw(columns.join(', '))} from json_each(${numberRows(rows)})`
}

/** For `where id in …`, in no order. */
export function listIds(ids: readonly number[]): RawBuilder<number> {
  return sql<number>`(select cast(key as bigint) from json_each(${writeIds(ids)}))`
}

/** What a prepared query is given for its `listIds`. */
export function writeIds(ids: readonly number[]): string {
  return ids.length === 0 ? '{}' : `{"${ids.join('":0,"')}":0}`
}

/** An object, since `json_each` of PostgreSQL takes no array. */
function numberRows(rows: readonly (readonly GivenValue[])[]): string {
  return `{${rows.map((row, at) => `"${at}":${JSON.stringify(row.map(toWellFormed))}`).join(',')}}`
}

/** Half a surrogate pair, which agents may send, is no text for PostgreSQL. */
function toWellFormed(value: GivenValue): GivenValue {
  return typeof value === 'string' ? value.toWellFormed() : value
}
