/** The fields that documents, responses and request bodies share: single values and lists of references. */
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

/** All single-value fields except the name; missing ones get their default. */
export function readPlainFields(kind: ApplyKind, read: (field: string) => unknown): ApplyFields {
  const resource = resources[kind]
  const fields = plainFields(resource.fields).filter(([name]) => name !== resource.nameField)
  return Object.fromEntries(
    // The values have already been checked against their field's type.
    fields.map(([name, field]) => [name, (read(name) ?? defaultOf(field)) as FieldValue]),
  )
}

/** Keyed by field; `of`: the kind that the field refers to. */
export function mapReferences<T>(
  kind: ApplyKind,
  toValue: (field: string, of: ApplyKind) => T,
): Readonly<Record<string, T>> {
  const lists = writtenFields(resources[kind].fields).flatMap(([name, field]) =>
    // Document fields only refer to kinds that documents can define.
    field.kind === 'references' ? [[name, toValue(name, field.to.noun as ApplyKind)]] : [],
  )
  return Object.fromEntries(lists) as Record<string, T>
}

/** Keys of a GET response that documents must omit: read-only ones and API-only ones; `managedBy` is decided by the set. */
export function readOnlyKeys(kind: ApplyKind): readonly string[] {
  const { fields } = resources[kind]
  return fieldNames(fields).filter(
    (name) => name !== 'organization' && fields[name]?.write?.summary === undefined,
  )
}
