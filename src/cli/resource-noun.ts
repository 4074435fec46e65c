/** From a resource to the noun of the command line: what is typed, the columns of its list, the fields of its bodies. */
import { organization } from '../resources/organization.js'
import { writtenFields, type Field as ResourceField, type Resource } from '../resources/resource.js'
import type { Column } from './cells.js'
import type { Field, FieldType, Named, NounParts } from './verb.js'

/** What only the command line says of a noun. */
export type NounWords = Pick<NounParts, 'summary' | 'example' | 'exampleObject'>

export function toNounParts(resource: Resource, words: NounWords): NounParts {
  return {
    ...toNamed(resource),
    ...words,
    name: resource.path.slice(1),
    aliases: [resource.noun],
    columns: resource.columns.map((name) => toColumn(name, resource)),
    fields: writtenFields(resource.fields).flatMap(([name, field]): Field[] => {
      const { summary, nullable, fixed } = field.write
      if (summary === undefined) return []
      const clearable = nullable === true || field.nullable === true
      const on = fixed === true ? 'create' : field.write.on
      return [
        {
          ...{ name, summary, type: toFieldType(field) },
          ...(clearable && { clearable }),
          ...(on && { only: on === 'create' ? 'add' : on }),
        },
      ]
    }),
  }
}

export function toNamed({ noun, path, nameField }: Resource): Named {
  return { path, singular: noun, nameField }
}

function toColumn(name: string, { fields }: Resource): Column {
  const title = fields[name]?.title
  return { field: name, ...(title !== undefined && { title }) }
}

/** Names, words and all others are typed as the texts that they are. */
const typedOtherwise: Readonly<Partial<Record<ResourceField['kind'], PlainType>>> = {
  integer: 'integer',
  moment: 'moment',
  numbers: 'numbers',
  flag: 'boolean',
  list: 'words',
}
type PlainType = 'integer' | 'moment' | 'numbers' | 'boolean' | 'words'

function toFieldType(field: ResourceField): FieldType {
  if (field.kind === 'references') return { kind: 'references', of: toNamed(field.to) }
  if (field.kind === 'reference' && field.to) return { kind: 'reference', of: toNamed(field.to) }
  return { kind: typedOtherwise[field.kind] ?? 'text' }
}

/** Whose a new object is: the system administrator says it. */
export function ownerField(summary: string): Field {
  return {
    ...{ name: 'organization', summary: `${summary}; for the system administrator` },
    ...{ type: { kind: 'reference', of: toNamed(organization) }, only: 'add' },
  }
}
