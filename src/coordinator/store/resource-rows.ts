/** Maps a resource's fields to its table: columns for list filters, reading rows, writing request bodies. */
import { sql } from 'kysely'
import { findNameProblem } from '../../resources/names.js'
import {
  defaultOf,
  writtenFields,
  type ColumnOf,
  type Field,
  type Fields,
  type Resource,
  type ValueOf,
  type Written,
  type WrittenColumn,
} from '../../resources/resource.js'
import { FleetError, type ErrorKey } from '../../errors.js'
import type { ListColumns, NestedColumn, PlainColumn, TableColumn } from './list-query.js'
import type { Tables } from './schema.js'

type OneValue = 'id' | 'name' | 'text' | 'integer' | 'flag' | 'time' | 'moment' | 'words'
/** Stored as JSON; lists cannot be filtered by them. */
type Packed = 'list' | 'numbers' | 'object'
/** Reference to another object by id, with its name joined: `accountId`, `accountName`. */
type Joined = 'owner' | 'reference'

/** The fields that are stored in a column of their own. */
type StoredKey<F extends Fields> = {
  [K in keyof F]: F[K] extends { computed: true }
    ? never
    : F[K] extends { kind: OneValue | Packed }
      ? K
      : never
}[keyof F] &
  string

/** A record as use cases see it: by column; times in milliseconds. */
export type StoredRecord<F extends Fields> = {
  readonly [K in StoredKey<F> as ColumnOf<F, K>]: F[K] extends { kind: 'time' | 'moment' }
    ? number | Extract<ValueOf<F[K]>, null>
    : ValueOf<F[K]>
} & {
  readonly [
    K in keyof F as F[K] extends { computed: true }
      ? never
      : F[K] extends { kind: Joined }
        ? K
        : never
  ]: ValueOf<F[K]>
}

const typesOfLists = {
  id: 'number',
  integer: 'number',
  name: 'text',
  text: 'text',
  flag: 'flag',
  time: 'time',
  moment: 'number',
} as const

interface StoredField {
  readonly name: string
  readonly column: string
  readonly field: Field
}

function storedFields(fields: Fields): StoredField[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const isStored =
      field.computed !== true &&
      (field.kind in typesOfLists || field.kind === 'words' || isPacked(field))
    return isStored ? [{ name, column: field.column ?? name, field }] : []
  })
}

function isPacked({ kind }: Field): boolean {
  return kind === 'list' || kind === 'numbers' || kind === 'object'
}

/** The columns that a query selects: `agents.name`, … */
export function storedColumns<F extends Fields, T extends keyof Tables>(
  fields: F,
  table: T,
): `${T}.${ColumnOf<F, StoredKey<F>>}`[] {
  const columns = storedFields(fields).map(({ column }) => `${table}.${column}`)
  return columns as `${T}.${ColumnOf<F, StoredKey<F>>}`[] // from the same fields
}

/** The columns that a list can be filtered and sorted by; the noun adds the computed ones. */
export function listColumns<F extends Fields>(
  fields: F,
  table: keyof Tables,
): ListColumns & Readonly<Record<StoredKey<F>, PlainColumn>> {
  const columns = Object.entries(fields).flatMap(([name, field]): [string, PlainColumn][] => {
    if (field.kind === 'owner') return Object.entries(ownerColumns)
    if (field.kind === 'reference') return referenceColumns(name, field, table)
    const [stored] = storedFields({ [name]: field })
    return stored && !isPacked(field) ? [[name, toListColumn(stored, table)]] : []
  })
  return Object.fromEntries(columns) as ListColumns & Record<StoredKey<F>, PlainColumn>
}

/** Columns of a row's nested objects: `tags.id`, `tags.name`. */
export function nestedColumns(
  name: string,
  { fields, table }: { readonly fields: Fields; readonly table: keyof Tables },
  exists: NestedColumn['exists'],
): Readonly<Record<string, NestedColumn>> {
  const columns = storedFields(fields).map((stored): [string, NestedColumn] => [
    `${name}.${stored.name}`,
    { type: 'nested', of: toListColumn(stored, table), exists },
  ])
  return Object.fromEntries(columns)
}

function toListColumn({ column, field }: StoredField, table: keyof Tables): PlainColumn {
  const type =
    field.kind === 'words'
      ? typeof field.of[0] === 'number'
        ? 'number'
        : 'text'
      : typesOfLists[field.kind as Exclude<OneValue, 'words'>] // neither packed nor another kind
  const nullable = field.nullable === true ? ({ nullable: true } as const) : {}
  const place = `${table}.${column}` as TableColumn
  return { column: field.kind === 'moment' ? toSeconds(place) : place, type, ...nullable }
}

/** For a query that joins the table of the referenced noun. */
function referenceColumns(
  name: string,
  { to, computed }: Extract<Field, { readonly kind: 'reference' }>,
  table: keyof Tables,
): [string, PlainColumn][] {
  if (!to || computed === true) return []
  return [
    [`${name}.id`, { column: `${table}.${name}Id` as TableColumn, type: 'number' }],
    [
      `${name}.name`,
      { column: `${to.path.slice(1)}.${to.nameField}` as TableColumn, type: 'text' },
    ],
  ]
}

/** Converts a column in milliseconds. */
function toSeconds(column: TableColumn) {
  return sql<number | null>`(${sql.ref(column)} / 1000)`
}

/** For a query that joins `organizations`. */
const ownerColumns = {
  'organization.id': { column: 'organizations.id', type: 'number', nullable: true },
  'organization.name': { column: 'organizations.name', type: 'text', nullable: true },
} as const satisfies Readonly<Record<string, PlainColumn>>

/** Reads the stored fields of rows: flags are stored as 0 or 1, lists as JSON; references are joined. */
export function rowReader<F extends Fields>(fields: F): (row: object) => StoredRecord<F> {
  const stored = storedFields(fields).map(({ column, field }) => ({
    column,
    isFlag: field.kind === 'flag',
    isPacked: isPacked(field),
  }))
  const joined = Object.keys(fields).filter((name) => isJoined(fields[name]))
  const blank = Object.fromEntries(
    [...stored.map(({ column }) => column), ...joined].map((key): [string, unknown] => [key, null]),
  )
  return (row) => {
    const record = { ...blank } // as in resource-answers.ts
    for (const { column, isFlag, isPacked } of stored) {
      const value: unknown = Reflect.get(row, column)
      if (isFlag) record[column] = value === 1
      else record[column] = isPacked && typeof value === 'string' ? JSON.parse(value) : value
    }
    for (const name of joined) {
      const id: unknown = Reflect.get(row, `${name}Id`)
      record[name] = id === null ? null : { id, name: Reflect.get(row, `${name}Name`) as unknown }
    }
    return record as StoredRecord<F> // its columns are checked where the row is selected
  }
}

function isJoined(field: Field | undefined): boolean {
  return field?.computed !== true && (field?.kind === 'owner' || field?.kind === 'reference')
}

/**
 * Merges a request body over the existing record or, for a new one, over the defaults. Throws 'invalid' with the key of
 * an invalid name.
 */
export function mergeWritten<F extends Fields>(
  { noun, fields }: Pick<Resource, 'noun'> & { readonly fields: F },
  body: object,
  before?: object,
): Written<F> {
  const merged = writtenFields(fields)
    .filter(([, { computed }]) => computed !== true)
    .map(([name, field]): [string, unknown] => {
      const { column = name } = field
      const given: unknown = Reflect.get(body, name)
      const kept: unknown = before && Reflect.get(before, column)
      const value = given === undefined ? kept : given
      if (field.kind === 'name') checkName(noun, name, value)
      return [column, value ?? defaultOf(field)]
    })
  return Object.fromEntries(merged) as Written<F> // its body's schema has checked the types
}

function checkName(errorKey: ErrorKey, name: string, value: unknown): void {
  const problem = typeof value === 'string' ? findNameProblem(value) : null
  if (problem !== null) throw new FleetError('invalid', errorKey, `${name}: ${problem}`)
}

/** Whether writing this would change anything. */
export function isSame(written: object, before: object): boolean {
  return Object.entries(written).every(
    ([key, value]) => JSON.stringify(Reflect.get(before, key)) === JSON.stringify(value),
  )
}

type Column<F extends Field> = F extends { kind: 'flag' }
  ? 0 | 1
  : F extends { kind: Packed }
    ? string | Extract<ValueOf<F>, null>
    : ValueOf<F>

/** A row as stored in the table. */
type WrittenRow<F extends Fields> = {
  readonly [K in WrittenColumn<F> as ColumnOf<F, K>]: Column<F[K]>
}

/** For an insert or an update; columns that it does not write may be omitted. */
export function toRow<F extends Fields>(fields: F, written: Written<F>): WrittenRow<F> {
  const columns = storedFields(fields).flatMap(({ column, field }): [string, unknown][] => {
    const value: unknown = Reflect.get(written, column)
    if (value === undefined) return []
    if (field.kind === 'flag') return [[column, value === true ? 1 : 0]]
    return [[column, isPacked(field) && value !== null ? JSON.stringify(value) : value]]
  })
  return Object.fromEntries(columns) as WrittenRow<F> // each column from its own field
}
