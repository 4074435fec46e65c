/** From a resource's fields to its table: the columns that lists filter by, rows read, what a body writes. */
import { findNameProblem } from '../../resources/names.js'
import {
  defaultOf,
  writtenFields,
  type Field,
  type Fields,
  type Resource,
  type ValueOf,
  type Written,
} from '../../resources/resource.js'
import { FleetError, type ErrorKey } from '../../errors.js'
import type { ListColumns, NestedColumn, PlainColumn, TableColumn } from './list-query.js'
import type { Tables } from './schema.js'
import { toOwner } from './owner.js'

type OneValue = 'id' | 'name' | 'text' | 'integer' | 'flag' | 'time' | 'words'

/** The fields that are a column of the table each. */
type StoredKey<F extends Fields> = {
  [K in keyof F]: F[K] extends { computed: true }
    ? never
    : F[K] extends { kind: OneValue }
      ? K
      : never
}[keyof F] &
  string

/** Of each key by itself, where `K` is a union. */
type ColumnOf<F extends Fields, K extends keyof F> = K extends keyof F
  ? F[K] extends { column: infer C extends string }
    ? C
    : K & string
  : never

/** As use cases have it: by column; times in milliseconds. */
export type StoredRecord<F extends Fields> = {
  readonly [K in StoredKey<F> as ColumnOf<F, K>]: F[K] extends { kind: 'time' }
    ? number | (F[K] extends { nullable: true } ? null : never)
    : ValueOf<F[K]>
} & {
  readonly [K in keyof F as F[K] extends { kind: 'owner' } ? K : never]: ReturnType<typeof toOwner>
}

const typesOfLists = {
  id: 'number',
  integer: 'number',
  name: 'text',
  text: 'text',
  flag: 'flag',
  time: 'time',
} as const

interface StoredField {
  readonly name: string
  readonly column: string
  readonly field: Field
}

function storedFields(fields: Fields): StoredField[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const isStored =
      field.computed !== true && (field.kind in typesOfLists || field.kind === 'words')
    return isStored ? [{ name, column: field.column ?? name, field }] : []
  })
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
    const [stored] = storedFields({ [name]: field })
    return stored ? [[name, toListColumn(stored, table)]] : []
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
      : typesOfLists[field.kind as Exclude<OneValue, 'words'>] // storedFields lets no others through
  const nullable = field.nullable === true ? ({ nullable: true } as const) : {}
  return { column: `${table}.${column}` as TableColumn, type, ...nullable }
}

/** Of a table that was joined with `organizations`. */
export const ownerColumns = {
  'organization.id': { column: 'organizations.id', type: 'number', nullable: true },
  'organization.name': { column: 'organizations.name', type: 'text', nullable: true },
} as const satisfies Readonly<Record<string, PlainColumn>>

/** Reads the stored fields of rows: flags are 0 or 1 there, and the owner is joined. */
export function rowReader<F extends Fields>(fields: F): (row: object) => StoredRecord<F> {
  const stored = storedFields(fields).map(({ column, field }) => ({
    column,
    isFlag: field.kind === 'flag',
  }))
  const owners = Object.keys(fields).filter((name) => fields[name]?.kind === 'owner')
  return (row) => {
    const record: Record<string, unknown> = {}
    for (const { column, isFlag } of stored) {
      const value: unknown = Reflect.get(row, column)
      record[column] = isFlag ? value === 1 : value
    }
    for (const name of owners) record[name] = toOwner(row as Parameters<typeof toOwner>[0])
    return record as StoredRecord<F> // its columns are checked where the row is selected
  }
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
      const given: unknown = Reflect.get(body, name)
      const kept: unknown = before && Reflect.get(before, field.column ?? name)
      const value = given === undefined ? kept : given
      if (field.kind === 'name') checkName(noun, name, value)
      return [name, value ?? defaultOf(field)]
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
