/** Derives what routes need from a resource's fields: schemas of responses and bodies (POST creates, PUT merges), the keys of edits. */
import {
  Type,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  type TUnsafe,
} from 'typebox'
import {
  fieldNames,
  takesNull,
  writtenFields,
  type Field,
  type Fields,
  type Resource,
  type ValueOf,
  type WrittenKey,
} from '../../resources/resource.js'
import { FleetError, type ErrorKey } from '../../errors.js'
import {
  idSchema,
  orNull,
  ownerReference,
  organizationSchema,
  referenceSchema,
  referencesTo,
  referenceTo,
  timeSchema,
} from './references.js'
import type { OwnerReference } from './find-references.js'

const closed = { additionalProperties: false }

/** Keeps the type of its properties, because other responses reuse some of them. */
type AnswerSchema<F extends Fields> = TObject<{
  [K in keyof F]: TUnsafe<ValueOf<F[K]>>
}>

export function answerSchema<F extends Fields>(fields: F, options: object = {}): AnswerSchema<F> {
  const properties = Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)])
  // Each property is built from the field that determines its type.
  return Type.Object(Object.fromEntries(properties) as Record<string, TSchema>, {
    ...closed,
    ...options,
  }) as unknown as AnswerSchema<F>
}

/** The field's own schema describes the value; null and optional are wrapped around it. */
function fieldSchema(field: Field): TSchema {
  const schema = shapeSchema(field)
  const value = field.nullable === true ? orNull(schema) : schema
  return field.optional === true ? Type.Optional(value) : value
}

type Options = Readonly<Record<string, unknown>>

type Maker = (field: never, options: Options) => TSchema

/** One per kind; each is called only with fields of its own kind. */
const schemaMakers = {
  id: () => idSchema,
  name: (_, options) => Type.String(options),
  text: ({ limitCharacters, form }: FieldOf<'text'>, options) => {
    const limited = { ...options, ...(limitCharacters && { maxLength: limitCharacters }) }
    if (!form) return Type.String(limited)
    const { pattern, right } = form
    return Type.Refine(
      Type.String({ description: right, ...limited }),
      (value) => pattern.test(value),
      () => `must be ${right}`,
    )
  },
  source: (_, options) => Type.String(options),
  integer: ({ minimum, maximum }: FieldOf<'integer'>, options) =>
    Type.Integer({
      ...options,
      ...(minimum !== undefined && { minimum }),
      ...(maximum !== undefined && { maximum }),
    }),
  number: (_, options) => Type.Number(options),
  moment: ({ maximum }: FieldOf<'moment'>, options) =>
    Type.Integer({ ...options, ...(maximum !== undefined && { maximum }) }),
  flag: (_, options) => Type.Boolean(options),
  time: () => timeSchema,
  words: ({ of }: FieldOf<'words'>, options) => Type.Enum([...of], options),
  record: (_, options) => Type.Record(Type.String(), Type.String(), options),
  reference: ({ versioned }: FieldOf<'reference'>, options) =>
    Type.Object(
      {
        ...referenceSchema.properties,
        ...(versioned && { version: Type.Optional(versionSchema) }),
      },
      options,
    ),
  owner: () => organizationSchema,
  references: ({ fields }: FieldOf<'references'>, options) =>
    Type.Array(answerSchema(fields), options),
  object: ({ fields }: FieldOf<'object'>, options) => answerSchema(fields, options),
  list: ({ of, atLeast, atMost }: FieldOf<'list'>, options) =>
    Type.Array(fieldSchema(of), {
      ...options,
      ...(atLeast !== undefined && { minItems: atLeast }),
      ...(atMost !== undefined && { maxItems: atMost }),
    }),
  numbers: ({ of }: FieldOf<'numbers'>, options) => {
    const numbers = Object.entries(of).map(
      ([name, about]) => [name, Type.Optional(Type.Integer({ minimum: 0, ...about }))] as const,
    )
    return Type.Object(Object.fromEntries(numbers), { ...closed, ...options })
  },
} satisfies Record<Field['kind'], Maker>

const versionSchema = Type.Integer({ minimum: 1 })

type FieldOf<Kind extends Field['kind']> = Extract<Field, { readonly kind: Kind }>

function shapeSchema(field: Field): TSchema {
  const { description, write } = field
  const make: Maker = schemaMakers[field.kind]
  return make(field as never, {
    ...(description !== undefined && { description }),
    ...(write?.default !== undefined && { default: write.default }),
  })
}

type BodyValue<F extends Field> =
  | (F extends { kind: 'references' }
      ? readonly { readonly id: number }[]
      : F extends { kind: 'reference' }
        ? ReferenceBody
        : ValueOf<F>)
  | (F extends { write: { nullable: true } } ? null : never)

/** `version` is for references to versioned objects only. */
export interface ReferenceBody {
  readonly id: number
  readonly version?: number | null
}

type RequiredKey<F extends Fields> = {
  [K in keyof F]: F[K] extends { write: { required: true } } ? K : never
}[keyof F]

/** The body of a PUT; an absent key keeps its value. */
export type UpdateBody<F extends Fields> = {
  readonly [K in Exclude<WrittenKey<F>, CreateOnly<F>>]?: BodyValue<F[K]> | undefined
}

type CreateOnly<F extends Fields> = {
  [K in keyof F]: F[K] extends { write: { on: 'create' } } ? K : never
}[keyof F]

export type CreateBody<F extends Fields> = {
  readonly [K in Extract<WrittenKey<F>, RequiredKey<F>>]: BodyValue<F[K]>
} & {
  readonly [K in Exclude<WrittenKey<F>, RequiredKey<F>>]?: BodyValue<F[K]> | undefined
} & { readonly organization?: OwnerReference }

export type GivenBody<F extends Fields> = Omit<CreateBody<F>, 'organization'>

export function createBody<F extends Fields>(fields: F): TUnsafe<CreateBody<F>> {
  const properties = { ...createProperties(fields), organization: ownerReference }
  const schema = Type.Object(properties, closed)
  return schema as unknown as TUnsafe<CreateBody<F>> // built from the same fields
}

/** A body without `organization`, because what it describes has no owner. */
export function givenBody<F extends Fields>(
  fields: F,
  options: object = {},
): TUnsafe<GivenBody<F>> {
  const schema = Type.Object(createProperties(fields), { ...closed, ...options })
  return schema as unknown as TUnsafe<GivenBody<F>> // built from the same fields
}

function createProperties(fields: Fields): Record<string, TSchema> {
  const properties = writtenFields(fields, 'create').map(([name, field]) => {
    const schema = bodySchema(field)
    return [name, field.write.required === true ? schema : Type.Optional(schema)] as const
  })
  return Object.fromEntries(properties)
}

export function updateBody<F extends Fields>(fields: F): TUnsafe<UpdateBody<F>> {
  const properties = writtenFields(fields, 'update').map(
    ([name, field]) => [name, Type.Optional(bodySchema(field))] as const,
  )
  const schema = Type.Object(Object.fromEntries(properties), closed)
  return schema as unknown as TUnsafe<UpdateBody<F>> // built from the same fields
}

/** Adds keys that a body has beside the fields, such as a password, or has in another form. */
export function withOthers<Body, Others extends TProperties>(
  body: TUnsafe<Body>,
  others: Others,
): TUnsafe<Omit<Body, keyof Others> & Static<TObject<Others>>> {
  const { properties } = body as unknown as TObject // all bodies are objects
  const schema = Type.Object({ ...properties, ...others }, closed)
  return schema as unknown as TUnsafe<Omit<Body, keyof Others> & Static<TObject<Others>>>
}

function bodySchema(field: ReturnType<typeof writtenFields>[number][1]): TSchema {
  const schema = valueSchema(field)
  return takesNull(field) ? orNull(schema) : schema
}

function valueSchema(field: ReturnType<typeof writtenFields>[number][1]): TSchema {
  if (field.kind === 'references') {
    const { atLeast, atMost } = field
    return referencesTo(referenceKeys(field.to), {
      ...(atLeast !== undefined && { minItems: atLeast }),
      ...(atMost !== undefined && { maxItems: atMost }),
    })
  }
  if (field.kind !== 'reference' || field.to === undefined) return shapeSchema(field)
  const version = { version: Type.Optional(orNull(versionSchema)) }
  const { properties } = referenceTo(referenceKeys(field.to))
  return Type.Object({ ...properties, ...(field.versioned && version) }, closed)
}

/** Keys that a reference may have beside its id: those of the object's GET response, and `name`, as references are answered. */
export function referenceKeys({ fields }: Resource): string[] {
  return [...fieldNames(fields), 'name']
}

/** Returns the keys of the response that a PUT can change. */
export function editKeys(fields: Fields): string[] {
  return writtenFields(fields, 'update')
    .filter(([, { write }]) => write.fixed !== true)
    .map(([name]) => name)
}

/** Throws 'invalid' if the body would change a field that is fixed on create. `answer`: the object's current response. */
export function requireFixed(
  { noun, fields }: Pick<Resource, 'noun' | 'fields'>,
  body: object,
  answer: object,
): void {
  for (const [name, { write }] of writtenFields(fields)) {
    if (write.fixed !== true) continue
    const [given, current] = [body, answer].map((from) => toKey(Reflect.get(from, name)))
    if (given !== undefined && given !== current) throw fixed(name, current, noun)
  }
}

/** Returns the id of a reference; other values unchanged. */
function toKey(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, 'id') : value
}

function fixed(name: string, current: unknown, noun: ErrorKey): FleetError {
  return new FleetError(
    'invalid',
    noun,
    `${name} cannot be changed from ${String(current)}; make another object`,
  )
}
