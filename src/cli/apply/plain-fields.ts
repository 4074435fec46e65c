/** What documents, answers and bodies say alike of an object: its fields that are one value each, by their definition. */
import { defaultOf, plainFields, readOnlyNames, type Resource } from '../../resources/resource.js'
import { tag } from '../../resources/tag.js'
import type { ApplyFields, ApplyKind, FieldValue } from './apply-objects.js'

const resources: Readonly<Partial<Record<ApplyKind, Resource>>> = { tag }

/** Beside the name; what is left out has its default. */
export function readPlainFields(kind: ApplyKind, read: (field: string) => unknown): ApplyFields {
  const resource = resources[kind]
  if (!resource) return {}
  const fields = plainFields(resource.fields).filter(([name]) => name !== resource.nameField)
  return Object.fromEntries(
    // What was read passed the type of its field already.
    fields.map(([name, field]) => [name, (read(name) ?? defaultOf(field)) as FieldValue]),
  )
}

/** What a GET answers and nobody writes; the set decides of `managedBy`. */
export function readOnlyKeys(kind: ApplyKind): readonly string[] {
  const names = readOnlyNames(resources[kind]?.fields ?? {})
  return [...names.filter((name) => name !== 'organization'), 'managedBy']
}
