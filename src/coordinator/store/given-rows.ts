/**
 * Statements that are given rows. Their text is the same however many rows there are: each is composed with a handful of nodes and
 * prepared once, where a list of `values` is new each time.
 *
 * PostgreSQL is given all rows in one statement, as JSON: each statement is a way there and back. SQLite, which is in this
 * process, runs the statement for each row: of JSON it would parse a row anew for each of its columns, which takes 3 to 40 times as long.
 */
import { sql, type RawBuilder } from 'kysely'
import { inPieces } from './in-pieces.js'
import { compileOnce } from './prepared-query.js'
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

/** Of a database that runs a statement once for each row, whose values the statement names as `@column`. */
export interface RowByRow {
  readonly runsRowByRow: true
}

/**
 * A statement that is given rows; answers what it returns, piece by piece of the rows. No column is called `from`. Call in a
 * transaction.
 */
export function prepareGiven<Columns extends GivenColumns, Row>(
  columns: Columns,
  compose: (given: Given<Columns>) => RawBuilder<Row>,
): (queries: Queries, rows: readonly GivenRow<Columns>[]) => Promise<Row[]> {
  const compile = compileOnce((queries) => {
    const given = isRowByRow(queries) ? nameParameters(columns) : nameColumns(columns)
    return { compile: () => compose(given as Given<Columns>).compile(queries) } // a value for each column
  })
  const texts = Object.keys(columns).filter((name) => columns[name] === 'text')
  return (queries, rows) =>
    inPieces(rows, async (piece) => {
      const wellFormed = piece.map((row) => toWellFormed(row, texts))
      const parameters = isRowByRow(queries)
        ? wellFormed
        : [toJson(Object.keys(columns), wellFormed)]
      return (await queries.executeQuery<Row>({ ...compile(queries), parameters })).rows
    })
}

function isRowByRow(queries: Queries): boolean {
  return 'runsRowByRow' in queries.getExecutor().adapter
}

function nameParameters(columns: GivenColumns): Record<string, RawBuilder<unknown>> {
  const values = Object.keys(columns).map((name) => [name, sql.raw(`@${name}`)] as const)
  return { ...Object.fromEntries(values), from: sql`` }
}

function nameColumns(columns: GivenColumns): Record<string, RawBuilder<unknown>> {
  const names = Object.keys(columns)
  const values = names.map((name) => [name, sql.ref(`given.${name}`)] as const)
  const list = sql.join(names.map((name) => sql.ref(name)))
  const from = sql`from (${listGiven(Object.values(columns), [])}) as given(${list})`
  return { ...Object.fromEntries(values), from }
}

/** A `select` of rows, for a statement that is not run often. */
export function listGiven(
  types: readonly GivenType[],
  rows: readonly (readonly GivenValue[])[],
): RawBuilder<unknown> {
  const columns = types.map((type, at) =>
    type === 'text' ? `value ->> ${at}` : `cast(value ->> ${at} as ${type})`,
  )
  return sql`select ${sql.raw(columns.join(', '))} from json_each(${numberItems(rows)})`
}

/** For `where id in …`, in no order. */
export function listIds(ids: readonly number[]): RawBuilder<number> {
  return sql<number>`(select cast(key as bigint) from json_each(${writeIds(ids)}))`
}

/** What a prepared query is given for its `listIds`. */
export function writeIds(ids: readonly number[]): string {
  return ids.length === 0 ? '{}' : `{"${ids.join('":0,"')}":0}`
}

function toJson(
  names: readonly string[],
  rows: readonly Readonly<Record<string, GivenValue>>[],
): string {
  return numberItems(rows.map((row) => names.map((name) => row[name])))
}

/** An object, since `json_each` of PostgreSQL takes no array. */
function numberItems(items: readonly unknown[]): string {
  return `{${items.map((item, at) => `"${at}":${JSON.stringify(item)}`).join(',')}}`
}

/** Half a surrogate pair, which agents may send, is no text for PostgreSQL. */
function toWellFormed<Row extends Readonly<Record<string, GivenValue>>>(
  row: Row,
  texts: readonly string[],
): Row {
  const isText = (name: string): boolean => {
    const value = row[name]
    return typeof value !== 'string' || value.isWellFormed()
  }
  if (texts.every(isText)) return row
  const mended = texts.map((name) => {
    const value = row[name]
    return [name, typeof value === 'string' ? value.toWellFormed() : value] as const
  })
  return { ...row, ...Object.fromEntries(mended) }
}
