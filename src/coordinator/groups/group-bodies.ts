/** What bodies say of a group's files and domains, to write it and to stage it. */
import { Type } from 'typebox'
import type { Actor, PermissionType } from '../../resources/permission.js'
import type { ErrorKey } from '../../errors.js'
import { orNull, referencesTo, referenceTo, requireAccess } from '../api/references.js'
import { domainSchema } from '../domains/domain-view.js'
import { wholeFileSchema } from '../files/file-view.js'

const closed = { additionalProperties: false }

const fileFields = Object.keys(wholeFileSchema.properties)
/** A main file, maybe at a version. */
export const mainSchema = Type.Object(
  {
    ...referenceTo(fileFields).properties,
    version: Type.Optional(
      orNull(Type.Integer({ minimum: 1, description: 'The newest at each deploy unless given' })),
    ),
  },
  closed,
)

export const includesSchema = Type.Optional(orNull(referencesTo(fileFields)))
export const domainsSchema = Type.Optional(
  orNull(referencesTo([...Object.keys(domainSchema.properties), 'name'])),
)

/** What a body's references tell the names of. */
const typesReferred: Readonly<Record<string, PermissionType>> = {
  mainVCL: 'file',
  includes: 'file',
  domains: 'domain',
  deployments: 'deployment',
  tags: 'tag',
}

export function requireReferences(actor: Actor, body: object, errorKey: ErrorKey): void {
  for (const [key, type] of Object.entries(typesReferred))
    if (key in body) requireAccess(actor, type, 'read', errorKey)
}
