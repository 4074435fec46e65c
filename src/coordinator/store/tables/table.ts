/** Describes a table once, for the statement that creates it and for the types that queries are checked against. */
import type { Generated } from 'kysely'
import type { DialectSql } from '../database.js'
import type { GivenType } from '../given-rows.js'

type ColumnKind = 'id' | 'integer' | 'text'

/** Immutable: each method returns a new column. Not null unless `orNull` is called. */
class Column<Value> {
  /** Only for the compiler: the type that Kysely sees. */
  declare readonly value: Value
  readonly #kind: ColumnKind
  readonly #isNullable: boolean
  readonly #rules: string

  constructor(kind: ColumnKind, isNullable = false, rules = '') {
    this.#kind = kind
    this.#isNullable = isNullable
    this.#rules = rules
  }

  /** The SQL type that parameters are cast to. */
  get given(): GivenType {
    return this.#kind === 'text' ? 'text' : 'bigint'
  }

  orNull(): Column<Value | null> {
    return new Column(this.#kind, true, this.#rules)
  }

  /** For rows inserted without a value. */
  default(value: Value & (number | string)): Column<Generated<Value>> {
    return this.#with(`default ${typeof value === 'string' ? `'${value}'` : value}`)
  }

  unique(): Column<Value> {
    return this.#with('unique')
  }

  primaryKey(): Column<Value> {
    return this.#with('primary key')
  }

  /** Without `onDelete` the referenced row cannot be deleted. */
  references(table: string, onDelete?: 'cascade' | 'set null'): Column<Value> {
    const rule = `references "${table}"`
    return this.#with(onDelete === undefined ? rule : `${rule} on delete ${onDelete}`)
  }

  toSql(dialect: DialectSql): string {
    return `${dialect[this.#kind]}${this.#isNullable || this.#kind === 'id' ? '' : ' not null'}${this.#rules}`
  }

  #with<Changed = Value>(rule: string): Column<Changed> {
    return new Column<Changed>(this.#kind, this.#isNullable, `${this.#rules} ${rule}`)
  }
}

export const id = (): Column<Generated<number>> => new Column('id')
export const integer = <T extends number = number>(): Column<T> => new Column('integer')
export const flag = (): Column<0 | 1> => integer<0 | 1>()
export const text = <T extends string = string>(): Column<T> => new Column('text')

/** Null: owned by the system administrator, or shared. */
export const owner = (onDelete?: 'cascade' | 'set null'): Column<number | null> =>
  integer().references('organizations', onDelete).orNull()
export const times = { createdAt: integer(), updatedAt: integer() }

type Columns = Readonly<Record<string, Column<unknown>>>

export interface Table<C extends Columns = Columns> {
  readonly columns: C
  readonly keys: Keys
}

interface Keys {
  readonly primaryKey?: readonly string[]
  /** SQL of constraints over several columns. */
  readonly constraints?: readonly string[]
  /** By the suffix that follows the table's name. */
  readonly indexes?: Readonly<Record<string, Index>>
}

interface Index {
  /** Columns, or expressions in SQL. */
  readonly on: readonly string[]
  readonly where?: string
  readonly isUnique?: boolean
}

/** A table's type for Kysely. */
export type RowOf<T extends Table> = {
  [C in keyof T['columns']]: T['columns'][C]['value']
}

export function table<C extends Columns>(columns: C, keys: Keys = {}): Table<C> {
  return { columns, keys }
}

export const index = (...on: readonly string[]): Index => ({ on })
export const indexWhere = (where: string, ...on: readonly string[]): Index => ({ on, where })
export const unique = (...on: readonly string[]): Index => ({ on, isUnique: true })

/** For unique indexes: among rows without an organization, null would not equal null. */
export const ofOwner = 'coalesce("organizationId", 0)'

/** Names are unique within an organization, and its lists are sorted by name. */
export const nameIndexes = {
  name: unique(ofOwner, 'name'),
  organization: index('organizationId', 'name'),
}

/** Returns the statements that create the table and its indexes. */
export function createTable(name: string, { columns, keys }: Table, dialect: DialectSql): string[] {
  const { primaryKey, constraints = [], indexes = {} } = keys
  const lines = [
    ...Object.entries(columns).map(([column, type]) => `"${column}" ${type.toSql(dialect)}`),
    ...(primaryKey === undefined ? [] : [`primary key (${quoteAll(primaryKey)})`]),
    ...constraints,
  ]
  return [
    `create table "${name}" (${lines.join(', ')}) ${dialect.tableOptions}`,
    ...Object.entries(indexes).map(([suffix, { on, where, isUnique = false }]) => {
      const kind = isUnique ? 'unique index' : 'index'
      const condition = where === undefined ? '' : ` where ${where}`
      return `create ${kind} "${name}_${suffix}" on "${name}" (${quoteAll(on)})${condition}`
    }),
  ]
}

function quoteAll(parts: readonly string[]): string {
  return parts.map((part) => (/^\w+$/.test(part) ? `"${part}"` : part)).join(', ')
}
