/**
 * What the API's objects of one noun are made of, as plain data: the server derives its schemas, list fields and columns
 * from it, the CLI its flags and tables, the page its types and forms. No schema library here: the page bundles these files.
 */
import type { ErrorKey } from '../errors.js'
import type { EventType } from './event.js'
import type { PermissionType } from './permission.js'

export interface Resource {
  /** Of its errors and its documents for `apply`: `tag`. */
  readonly noun: ErrorKey
  readonly permission: PermissionType
  /** Of its events; left out: it has none. */
  readonly event?: EventType
  /** Of its list, in the API. */
  readonly path: `/${string}`
  /** What users call one by; null: by its id only. */
  readonly nameField: string | null
  /** What lists show, in this order. */
  readonly columns: readonly string[]
  readonly fields: Fields
}

/** In the order in which they are answered. */
export type Fields = Readonly<Record<string, Field>>

export type Field = Shape & {
  readonly nullable?: true
  /** An answer may leave it out. */
  readonly optional?: true
  readonly description?: string
  /** Above a column and beside an input; the name unless given. */
  readonly title?: string
  /** In the table; the field's name unless given. */
  readonly column?: string
  /** No column of the table: its noun's own code finds its value. */
  readonly computed?: true
  /** Left out: nobody writes it. */
  readonly write?: Write
}

type Shape =
  /** An object's name, or another's: see `findNameProblem`. */
  | { readonly kind: 'name' }
  | { readonly kind: 'text'; readonly limitCharacters?: number; readonly form?: TextForm }
  | { readonly kind: 'words'; readonly of: readonly (string | number)[] }
  | { readonly kind: 'id' | 'flag' | 'time' }
  /** Any; what is counted is an integer. */
  | { readonly kind: 'number' }
  | { readonly kind: 'integer'; readonly minimum?: number; readonly maximum?: number }
  /** Seconds since 1970; milliseconds in the table. */
  | { readonly kind: 'moment'; readonly maximum?: number }
  /** A text that may be megabytes long. */
  | { readonly kind: 'source' }
  /** Texts by name. */
  | { readonly kind: 'record' }
  /** `{id, name}`, written by id. `versioned`: maybe with a `version`. */
  | { readonly kind: 'reference'; readonly to?: Resource; readonly versioned?: true }
  /** Whose it is; null: the system administrator's own, or shared. */
  | { readonly kind: 'owner' }
  /** Written by id, answered with these fields. */
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
  /** Any of these, each with a number. */
  | { readonly kind: 'numbers'; readonly of: Readonly<Record<string, NumberShape>> }

/** What a text must look like. */
export interface TextForm {
  readonly pattern: RegExp
  /** What fits it: completes "must be". */
  readonly right: string
}

interface NumberShape {
  readonly maximum: number
  /** Counts where it is left out. */
  readonly default: number
  readonly description: string
}

interface Write {
  /** Left out: both. */
  readonly on?: 'create' | 'update'
  /** By a create; what else is left out gets its default. */
  readonly required?: true
  /** A create decides; an update may repeat it, as a GET answered it, but not change it. */
  readonly fixed?: true
  /** Null: as its default. */
  readonly nullable?: true
  /** Null unless given. */
  readonly default?: string | number | boolean | readonly string[]
  /** For users: the flag of the CLI, the input of the page. Left out: only programs write it. */
  readonly summary?: string
}

/** What the API answers of it. */
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

/** Written, and a column of the table. */
export type WrittenColumn<F extends Fields> = {
  [K in WrittenKey<F>]: F[K] extends { computed: true } ? never : K
}[WrittenKey<F>]

/** Of each key by itself, where `K` is a union. */
export type ColumnOf<F extends Fields, K extends keyof F> = K extends keyof F
  ? F[K] extends { column: infer C extends string }
    ? C
    : K & string
  : never

/** What a row keeps of what may be written, by column. */
export type Written<F extends Fields> = {
  readonly [K in WrittenColumn<F> as ColumnOf<F, K>]: ValueOf<F[K]> | Unset<F[K]>
}

/** Reset, and its default is what its noun's own code finds. */
type Unset<F extends Field> = F extends { write: { default: NonNullable<Write['default']> } }
  ? never
  : F extends { write: { nullable: true } }
    ? null
    : never

export function fieldNames(fields: Fields): string[] {
  return Object.keys(fields)
}

/** The fields that a body may have, of a create, an update or either. */
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

/** Those of them that users write, and that are one column of the row: inputs and flags can be made of them. */
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

/** Typed as words; not the fixed words of the kind `words`. */
function isWordList(field: Field): field is Field & { readonly kind: 'list' } {
  return field.kind === 'list' && field.of.kind === 'text'
}

/** By null a body resets the field to its default; what is required has none. */
export function takesNull({ write, nullable }: Pick<Field, 'write' | 'nullable'>): boolean {
  return write?.nullable === true || (nullable === true && write?.required !== true)
}

/** What a GET answers and nobody writes: bodies and documents may have it, so that what was read can be sent back. */
export function readOnlyNames(fields: Fields): string[] {
  return fieldNames(fields).filter((name) => fields[name]?.write === undefined)
}

/** `Last heartbeat`. */
export function titleOf(name: string, { title = name }: Pick<Field, 'title'>): string {
  return title.charAt(0).toUpperCase() + title.slice(1)
}

/** Of a body: what it leaves out. */
export function defaultOf({ write }: Pick<Field, 'write'>): NonNullable<Write['default']> | null {
  return write?.default ?? null
}
