/** From a resource to the noun of the command line: what is typed, the columns of its list, the fields of its bodies. */
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
      const { summary, nullable, on } = field.write
      if (summary === undefined) return []
      const clearable = nullable === true || field.nullable === true
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

/** Names and words are typed as the texts that they are. */
function toFieldType(field: ResourceField): FieldType {
  if (field.kind === 'references') return { kind: 'references', of: toNamed(field.to) }
  if (field.kind === 'integer') return { kind: 'integer' }
  return { kind: field.kind === 'flag' ? 'boolean' : 'text' }
}
