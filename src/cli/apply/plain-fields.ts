/** What documents, answers and bodies have in common: its fields that are one value each, and its lists of references. */
import { deployment } from '../../resources/deployment.js'
import { domain } from '../../resources/domain.js'
import { file } from '../../resources/file.js'
import {
  defaultOf,
  fieldNames,
  plainFields,
  writtenFields,
  type Resource,
} from '../../resources/resource.js'
import { tag } from '../../resources/tag.js'
import { vclGroup } from '../../resources/vclgroup.js'
import type { ApplyFields, ApplyKind, FieldValue } from './apply-objects.js'

const resources: Readonly<Record<ApplyKind, Resource>> = {
  tag,
  file,
  domain,
  deployment,
  vclgroup: vclGroup,
}

/** Beside the name; what is left out has its default. */
export function readPlainFields(kind: ApplyKind, read: (field: string) => unknown): ApplyFields {
  const resource = resources[kind]
  const fields = plainFields(resource.fields).filter(([name]) => name !== resource.nameField)
  return Object.fromEntries(
    // What was read passed the type of its field already.
    fields.map(([name, field]) => [name, (read(name) ?? defaultOf(field)) as FieldValue]),
  )
}

/** By field; `of`: the kind that it refers to. */
export function mapReferences<T>(
  kind: ApplyKind,
  toValue: (field: string, of: ApplyKind) => T,
): Readonly<Record<string, T>> {
  const lists = writtenFields(resources[kind].fields).flatMap(([name, field]) =>
    // Documents have kinds of their own references only.
    field.kind === 'references' ? [[name, toValue(name, field.to.noun as ApplyKind)]] : [],
  )
  return Object.fromEntries(lists) as Record<string, T>
}

/** What a GET answers and no document says: what nobody writes, and what only the API does; the set decides of `managedBy`. */
export function readOnlyKeys(kind: ApplyKind): readonly string[] {
  const { fields } = resources[kind]
  return fieldNames(fields).filter(
    (name) => name !== 'organization' && fields[name]?.write?.summary === undefined,
  )
}
