/**
 * Passes rows to a statement as one JSON parameter, which both databases unpack alike. The statement's text does not
 * depend on the number of rows: it has few nodes and is prepared once, whereas a list of `values` is new each time.
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

/** The value of each column, and their `from` clause: `select ${value} ${from}`, `update … set … ${from} where …`. */
type Given<Columns extends GivenColumns> = {
  readonly [name in keyof Columns]: RawBuilder<unknown>
} & { readonly from: RawBuilder<unknown> }

/** A statement over given rows, run in pieces; returns the rows of all pieces. No column may be named `from`. */
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

/** A `select` of rows, for a statement that rarely runs. */
export function listGiven(
  types: readonly GivenType[],
  rows: readonly (readonly GivenValue[])[],
): RawBuilder<unknown> {
  const columns = types.map(readItem)
  return sql`select ${sql.raw(columns.join(', '))} from json_each(${numberRows(rows)})`
}

/** For `where id in …`, unordered. */
export function listIds(ids: readonly number[]): RawBuilder<number> {
  return sql<number>`(select cast(key as bigint) from json_each(${writeIds(ids)}))`
}

/** For `where name in …`, unordered. */
export function listTexts(texts: readonly string[]): RawBuilder<string> {
  return sql<string>`(select key from json_each(${writeKeys(texts)}))`
}

/** The parameter of a prepared query for its `listIds`. */
export function writeIds(ids: readonly number[]): string {
  return ids.length === 0 ? '{}' : `{"${ids.join('":0,"')}":0}`
}

/** As `writeIds`, also of texts; slower. */
export function writeKeys(keys: readonly (number | string)[]): string {
  return JSON.stringify(Object.fromEntries(keys.map((key) => [key, 0])))
}

/** An object, because PostgreSQL's `json_each` takes no array. */
function numberRows(rows: readonly (readonly GivenValue[])[]): string {
  const text = JSON.stringify(Object.assign({}, rows))
  if (!escapedSurrogate.test(text)) return text
  return JSON.stringify(
    Object.assign(
      {},
      rows.map((row) => row.map(toWellFormed)),
    ),
  )
}

/** PostgreSQL rejects half a surrogate pair, which agents may send; JSON has it escaped. */
const escapedSurrogate = /\\ud[89a-f]/

function toWellFormed(value: GivenValue): GivenValue {
  return typeof value === 'string' ? value.toWellFormed() : value
}
