/** From a resource's fields to its table: the columns that lists filter by, rows read, what a body writes. */
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
/** Kept as JSON, and in no list's filters. */
type Packed = 'list' | 'numbers' | 'object'
/** Another object by its id, with its name joined: `accountId`, `accountName`. */
type Joined = 'owner' | 'reference'

/** The fields that are a column of the table each. */
type StoredKey<F extends Fields> = {
  [K in keyof F]: F[K] extends { computed: true }
    ? never
    : F[K] extends { kind: OneValue | Packed }
      ? K
      : never
}[keyof F] &
  string

/** As use cases have it: by column; times in milliseconds. */
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

/** `agents.name`, …: what a query selects. */
export function storedColumns<F extends Fields, T extends keyof Tables>(
  fields: F,
  table: T,
): `${T}.${ColumnOf<F, StoredKey<F>>}`[] {
  const columns = storedFields(fields).map(({ column }) => `${table}.${column}`)
  return columns as `${T}.${ColumnOf<F, StoredKey<F>>}`[] // of the same fields
}

/** What a list can be filtered and sorted by; the noun adds what is computed. */
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

/** `tags.id`, `tags.name`: of several that a row has. */
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

/** Of a table that was joined with that of the noun it refers to. */
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

/** Of a column that holds milliseconds. */
function toSeconds(column: TableColumn) {
  return sql<number | null>`(${sql.ref(column)} / 1000)`
}

/** Of a table that was joined with `organizations`. */
const ownerColumns = {
  'organization.id': { column: 'organizations.id', type: 'number', nullable: true },
  'organization.name': { column: 'organizations.name', type: 'text', nullable: true },
} as const satisfies Readonly<Record<string, PlainColumn>>

/** Reads the stored fields of rows: flags are 0 or 1 there, lists are JSON, and what it refers to is joined. */
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
 * What a body writes, over what was there; without it, over the defaults. Throws 'invalid' naming the key for what is no
 * name.
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

/** As the table has it. */
type WrittenRow<F extends Fields> = {
  readonly [K in WrittenColumn<F> as ColumnOf<F, K>]: Column<F[K]>
}

/** For an insert or an update; what is not written by it may be left out. */
export function toRow<F extends Fields>(fields: F, written: Written<F>): WrittenRow<F> {
  const columns = storedFields(fields).flatMap(({ column, field }): [string, unknown][] => {
    const value: unknown = Reflect.get(written, column)
    if (value === undefined) return []
    if (field.kind === 'flag') return [[column, value === true ? 1 : 0]]
    return [[column, isPacked(field) && value !== null ? JSON.stringify(value) : value]]
  })
  return Object.fromEntries(columns) as WrittenRow<F> // each of its own field
}
