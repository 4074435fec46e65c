/** Parts of the schemas of what travels between our processes and of what they keep on disk. */
import { Type, type Static, type TSchema } from 'typebox'

/** What fits one of these schemas, told apart by its kind. */
export type FittingOne<Schemas extends Readonly<Record<string, TSchema>>> = {
  [Kind in keyof Schemas]: Fitting<Schemas[Kind]>
}[keyof Schemas]
/** What fits the schema. Nobody changes it: it may be shared. */
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

/** JSON leaves out what is undefined. */
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

/** By the rule that all names of its kind follow. */
export function named(findProblem: (name: string) => string | null) {
  return refined(
    (value) => findProblem(value) === null,
    (value) => `is not a name: ${findProblem(value) ?? ''}`,
  )
}

function refined(fits: (value: string) => boolean, describe: (value: string) => string) {
  return Type.Refine(text, fits, describe)
}

/** Of what is kept in a row; in UTF-16 units. */
export const shortText = Type.Refine(
  text,
  ({ length }) => length <= 1024,
  () => 'must be a text of at most 1024 characters',
)

export const sha256 = matching(/^[0-9a-f]{64}$/, 'a SHA-256 in lower-case hex')
