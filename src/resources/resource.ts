/**
 * The definition of one kind of API object as plain data: the server derives schemas, list fields and columns from it, the
 * CLI flags and tables, the page types and forms. No schema library here: the page bundles these files.
 */
import type { ErrorKey } from '../errors.js'
import type { EventType } from './event.js'
import type { PermissionType } from './permission.js'

export interface Resource {
  /** The name in errors and in documents for `apply`, such as `tag`. */
  readonly noun: ErrorKey
  readonly permission: PermissionType
  /** The type of its events; absent: it has none. */
  readonly event?: EventType
  /** The API path of its list. */
  readonly path: `/${string}`
  /** The field by which users name an object; null: by id only. */
  readonly nameField: string | null
  /** The columns of lists, in this order. */
  readonly columns: readonly string[]
  readonly fields: Fields
}

/** In the order in which responses have them. */
export type Fields = Readonly<Record<string, Field>>

export type Field = Shape & {
  readonly nullable?: true
  /** A response may omit it. */
  readonly optional?: true
  readonly description?: string
  /** The title of its column or input; by default the field's name. */
  readonly title?: string
  /** The column of the table; by default the field's name. */
  readonly column?: string
  /** Not a column of the table: the noun's own code computes its value. */
  readonly computed?: true
  /** Absent: read-only. */
  readonly write?: Write
}

type Shape =
  /** A name, of this or another object: see `findNameProblem`. */
  | { readonly kind: 'name' }
  | { readonly kind: 'text'; readonly limitCharacters?: number; readonly form?: TextForm }
  | { readonly kind: 'words'; readonly of: readonly (string | number)[] }
  | { readonly kind: 'id' | 'flag' | 'time' }
  /** Any number; counts are of the kind `integer`. */
  | { readonly kind: 'number' }
  | { readonly kind: 'integer'; readonly minimum?: number; readonly maximum?: number }
  /** Seconds since 1970; milliseconds in the table. */
  | { readonly kind: 'moment'; readonly maximum?: number }
  /** A text that may be megabytes long. */
  | { readonly kind: 'source' }
  /** Texts by name. */
  | { readonly kind: 'record' }
  /** `{id, name}`, written by id. `versioned`: with an optional `version`. */
  | { readonly kind: 'reference'; readonly to?: Resource; readonly versioned?: true }
  /** The owning organization; null: the system administrator's own, or shared. */
  | { readonly kind: 'owner' }
  /** Written by id; responses have these fields. */
  | {
      readonly kind: 'references'
      readonly to: Resource
      readonly fields: Fields
      readonly atLeast?: number
      readonly atMost?: number
    }
  | { readonly kind: 'object'; readonly fields: Fields }
  | {
      readonly kind: 'list'
      readonly of: Field
      readonly atLeast?: number
      readonly atMost?: number
    }
  /** A number for any of these names. */
  | { readonly kind: 'numbers'; readonly of: Readonly<Record<string, NumberShape>> }

/** The required form of a text. */
export interface TextForm {
  readonly pattern: RegExp
  /** Describes a valid text: completes "must be". */
  readonly right: string
}

interface NumberShape {
  readonly maximum: number
  /** Used when the number is absent. */
  readonly default: number
  readonly description: string
}

interface Write {
  /** Absent: both. */
  readonly on?: 'create' | 'update'
  /** A create requires it; other absent fields get their defaults. */
  readonly required?: true
  /** Set on create; an update may repeat the value from a GET, but not change it. */
  readonly fixed?: true
  /** Null resets it to the default. */
  readonly nullable?: true
  /** By default null. */
  readonly default?: string | number | boolean | readonly string[]
  /** Help text of the CLI flag and the page's input. Absent: only programs write the field. */
  readonly summary?: string
}

/** The type of an API response with these fields. */
export type Answer<F extends Fields> = {
  readonly [K in Exclude<keyof F, OptionalKey<F>>]: ValueOf<F[K]>
} & { readonly [K in OptionalKey<F>]?: ValueOf<F[K]> }

type OptionalKey<F extends Fields> = {
  [K in keyof F]: F[K] extends { optional: true } ? K : never
}[keyof F]

export type ValueOf<F extends Field> = ShapeValue<F> | (F extends { nullable: true } ? null : never)

export interface Reference {
  readonly id: number
  readonly name: string
}

type VersionedReference = Reference & { readonly version?: number }

type ShapeValue<S extends Shape> = S extends { kind: 'name' | 'text' | 'source' | 'time' }
  ? string
  : S extends { kind: 'id' | 'integer' | 'number' | 'moment' }
    ? number
    : S extends { kind: 'flag' }
      ? boolean
      : S extends { kind: 'words'; of: readonly (infer W)[] }
        ? W
        : S extends { kind: 'record' }
          ? Readonly<Record<string, string>>
          : S extends { kind: 'reference'; versioned: true }
            ? VersionedReference
            : S extends { kind: 'reference' }
              ? Reference
              : S extends { kind: 'owner' }
                ? Reference | null
                : S extends { kind: 'references'; fields: infer F extends Fields }
                  ? readonly Answer<F>[]
                  : S extends { kind: 'object'; fields: infer F extends Fields }
                    ? Answer<F>
                    : S extends { kind: 'list'; of: infer F extends Field }
                      ? readonly ValueOf<F>[]
                      : S extends { kind: 'numbers'; of: infer N }
                        ? { readonly [K in keyof N]?: number }
                        : never

export type WrittenKey<F extends Fields> = {
  [K in keyof F]: F[K] extends { write: Write } ? K : never
}[keyof F] &
  string

/** Writable fields that are columns of the table. */
export type WrittenColumn<F extends Fields> = {
  [K in WrittenKey<F>]: F[K] extends { computed: true } ? never : K
}[WrittenKey<F>]

/** Distributes over a union `K`. */
export type ColumnOf<F extends Fields, K extends keyof F> = K extends keyof F
  ? F[K] extends { column: infer C extends string }
    ? C
    : K & string
  : never

/** The writable values that a row stores, by column. */
export type Written<F extends Fields> = {
  readonly [K in WrittenColumn<F> as ColumnOf<F, K>]: ValueOf<F[K]> | Unset<F[K]>
}

/** A reset field whose default the noun's own code computes. */
type Unset<F extends Field> = F extends { write: { default: NonNullable<Write['default']> } }
  ? never
  : F extends { write: { nullable: true } }
    ? null
    : never

export function fieldNames(fields: Fields): string[] {
  return Object.keys(fields)
}

/** The fields that the body of a create, an update or either may have. */
export function writtenFields(
  fields: Fields,
  verb?: 'create' | 'update',
): (readonly [name: string, field: Field & { readonly write: Write }])[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const { write } = field
    if (!write || (verb !== undefined && write.on !== undefined && write.on !== verb)) return []
    return [[name, { ...field, write }] as const]
  })
}

/** The writable fields that users write and that are one column of the row: they become inputs and flags. */
export function plainFields(
  fields: Fields,
): (readonly [name: string, field: Field & { readonly write: Write }])[] {
  return writtenFields(fields).filter(
    ([, field]) =>
      field.write.summary !== undefined &&
      field.computed !== true &&
      (['name', 'text', 'integer', 'flag'].includes(field.kind) || isWordList(field)),
  )
}

/** A list of free words; not the fixed words of the kind `words`. */
function isWordList(field: Field): field is Field & { readonly kind: 'list' } {
  return field.kind === 'list' && field.of.kind === 'text'
}

/** Whether a null in a body resets the field to its default; required fields have none. */
export function takesNull({ write, nullable }: Pick<Field, 'write' | 'nullable'>): boolean {
  return write?.nullable === true || (nullable === true && write?.required !== true)
}

/** Read-only fields: bodies and documents may contain them, so that the response to a GET can be sent back. */
export function readOnlyNames(fields: Fields): string[] {
  return fieldNames(fields).filter((name) => fields[name]?.write === undefined)
}

/** A title such as `Last heartbeat`. */
export function titleOf(name: string, { title = name }: Pick<Field, 'title'>): string {
  return title.charAt(0).toUpperCase() + title.slice(1)
}

/** The value of a field that the body omits. */
export function defaultOf({ write }: Pick<Field, 'write'>): NonNullable<Write['default']> | null {
  return write?.default ?? null
}
