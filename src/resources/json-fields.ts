/** Building blocks of the schemas for messages between processes and for files on disk. */
import { Type, type Static, type TSchema } from 'typebox'

/** The union of the types of these schemas, discriminated by kind. */
export type FittingOne<Schemas extends Readonly<Record<string, TSchema>>> = {
  [Kind in keyof Schemas]: Fitting<Schemas[Kind]>
}[keyof Schemas]
/** The type of the schema's values. Read-only: values may be shared. */
export type Fitting<Schema extends TSchema> = DeepReadonly<Static<Schema>>
type DeepReadonly<T> = T extends Uint8Array
  ? T
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T

export const text = Type.String()
export const flag = Type.Boolean()
export const finite = Type.Number()

export function whole(minimum: number, maximum: number = Number.MAX_SAFE_INTEGER) {
  return Type.Integer({ minimum, maximum })
}

export function list<Item extends TSchema>(item: Item, maxItems: number) {
  return Type.Array(item, { maxItems })
}

export function orNull<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** JSON omits undefined members. */
export function orAbsent<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(Type.Unsafe<Static<Schema> | undefined>(schema))
}

/** @param what completes "must be" */
export function matching(pattern: RegExp, what: string) {
  return refined(
    (value) => pattern.test(value),
    () => `must be ${what}`,
  )
}

/** A name that follows the rule of its kind. */
export function named(findProblem: (name: string) => string | null) {
  return refined(
    (value) => findProblem(value) === null,
    (value) => `is not a name: ${findProblem(value) ?? ''}`,
  )
}

function refined(fits: (value: string) => boolean, describe: (value: string) => string) {
  return Type.Refine(text, fits, describe)
}

/** A text stored in a row; the limit is in UTF-16 units. */
export const shortText = Type.Refine(
  text,
  ({ length }) => length <= 1024,
  () => 'must be a text of at most 1024 characters',
)

export const sha256 = matching(/^[0-9a-f]{64}$/, 'a SHA-256 in lower-case hex')
