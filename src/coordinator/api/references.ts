/**
 * Parts of the resources' schemas: ids, times, references (written `{id}`, answered `{id, name}`), the owner of a new
 * object, and the query of a list (docs/behaviour.md, Updates).
 */
import {
  Type,
  type TInteger,
  type TObject,
  type TSchema,
  type TUnion,
  type TNull,
  type TOptional,
  type TString,
} from 'typebox'
import { organization } from '../../resources/organization.js'
import { uniqueName } from '../../resources/common-fields.js'
import { may, type Access, type Actor, type PermissionType } from '../../resources/permission.js'
import { fieldNames } from '../../resources/resource.js'
import { FleetError, type ErrorKey } from '../../errors.js'

export const idSchema = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
export const timeSchema = Type.String({
  description: 'ISO 8601, UTC, with fractional seconds',
  examples: ['2026-11-20T10:00:00.000Z'],
})
export const nameSchema = Type.String({ description: uniqueName.description })

export function orNull<T extends TSchema>(schema: T): TUnion<[T, TNull]> {
  return Type.Union([schema, Type.Null()])
}

/** How a response refers to another object. */
export const referenceSchema = Type.Object({ id: idSchema, name: Type.String() })

export const organizationSchema = orNull(
  Type.Object(
    { id: idSchema, name: Type.String() },
    { description: "null: the system administrator's own; of an agent: shared by all" },
  ),
)

/** The maximum number of references in one list of a body. */
export const maxReferences = 1_000

/** How a body refers to another object: by its id; the other keys of that object's GET response are ignored. */
export function referenceTo(knownFields: readonly string[]): TObject<{ id: TInteger }> {
  const ignored = Object.fromEntries(
    knownFields.map((field) => [field, Type.Optional(Type.Unknown())]),
  )
  return Type.Object({ ...ignored, id: idSchema }, { additionalProperties: false })
}

export function referencesTo(
  knownFields: readonly string[],
  options: { readonly minItems?: number } = {},
) {
  return Type.Array(referenceTo(knownFields), { maxItems: maxReferences, ...options })
}

/** The organization of a new object: the system administrator may choose it, other callers may only name their own. */
export const ownerReference = Type.Optional(orNull(referenceTo(fieldNames(organization.fields))))

/** A list's query: its fields, `sort` and `take`; the list itself parses their values. */
export function listQuerySchema(
  fields: readonly string[],
): TObject<Record<string, TOptional<TString>>> {
  const filters = Object.fromEntries(
    fields.map((field) => [
      field,
      Type.Optional(
        Type.String({ description: `pattern of ${field}: * matches any, comma is any-of` }),
      ),
    ]),
  )
  return Type.Object(
    {
      ...filters,
      sort: Type.Optional(Type.String({ description: 'field[:asc|desc], id unless given' })),
      take: Type.Optional(Type.String({ description: 'limit[,offset], the limit from 1 to 1000' })),
    },
    { additionalProperties: false },
  )
}

/** `?force=true`. */
export function forceQuery(description: string) {
  return Type.Object(
    { force: Type.Optional(Type.Boolean({ description })) },
    { additionalProperties: false },
  )
}

/** Responses show a reference's name, so referring to an object requires read on its type (docs/behaviour.md, Permissions). */
export function requireAccess(
  actor: Actor,
  type: PermissionType,
  access: Access,
  errorKey: ErrorKey,
): void {
  if (!may(actor, type, access))
    throw new FleetError('forbidden', errorKey, `this needs permission to ${access} ${type}`)
}

/** For calls that compile. */
export const initSchema = Type.Boolean({
  description: 'Also run vcl_init, in a cache that is started for this',
})
