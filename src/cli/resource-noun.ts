/** Converts a resource to a noun of the command line: its names, the columns of its list, the fields of its bodies. */
import { domainToASCII } from 'node:url'
import { organization } from '../resources/organization.js'
import {
  takesNull,
  writtenFields,
  type Field as ResourceField,
  type Fields,
  type Resource,
} from '../resources/resource.js'
import type { Column } from './cells.js'
import type { Field, FieldType, Named, NounParts } from './verb.js'

/** Properties of a noun that only the command line has. */
export type NounWords = Pick<NounParts, 'summary' | 'example' | 'exampleObject'> & {
  /** Shorter than the noun's name. */
  readonly alias?: string
}

export function toNounParts(resource: Resource, { alias, ...words }: NounWords): NounParts {
  return {
    ...toNamed(resource),
    ...words,
    name: resource.path.slice(1),
    aliases: [...(alias === undefined ? [] : [alias]), resource.noun],
    columns: resource.columns.map((name) => toColumn(name, resource)),
    fields: toFields(resource.fields),
  }
}

/** The fields that people may write. */
export function toFields(fields: Fields): readonly Field[] {
  return writtenFields(fields).flatMap(([name, field]): Field[] => {
    const { summary, fixed } = field.write
    if (summary === undefined) return []
    const on = fixed === true ? 'create' : field.write.on
    return [
      {
        name,
        summary,
        type: toFieldType(field),
        ...(takesNull(field) && { clearable: true }),
        ...(on && { only: on === 'create' ? 'add' : on }),
      },
    ]
  })
}

export function toNamed({ noun, path, nameField }: Resource): Named {
  const toStoredName = storedNames[noun]
  return { path, singular: noun, nameField, ...(toStoredName && { toStoredName }) }
}

/** Converts typed names to the form that the API stores. */
const storedNames: Readonly<Record<string, (typed: string) => string>> = { domain: toAsciiDomain }

/** Lower case, ASCII, without a trailing dot. A name without such a form is returned unchanged. */
function toAsciiDomain(typed: string): string {
  const [, wildcard = '', name = ''] = /^(\*\.)?(.*)$/s.exec(typed) ?? []
  const ascii = domainToASCII(name.replace(/\.$/, ''))
  return ascii === '' ? typed : `${wildcard}${ascii}`
}

function toColumn(name: string, { fields }: Resource): Column {
  const title = fields[name]?.title
  return { field: name, ...(title !== undefined && { title }) }
}

/** Field kinds whose flags are not typed as plain text. */
const typedOtherwise: Readonly<Partial<Record<ResourceField['kind'], PlainType>>> = {
  integer: 'integer',
  moment: 'moment',
  numbers: 'numbers',
  flag: 'boolean',
}
type PlainType = 'integer' | 'moment' | 'numbers' | 'boolean'

function toFieldType(field: ResourceField): FieldType {
  if (field.kind === 'references') return { kind: 'references', of: toNamed(field.to) }
  if (field.kind === 'reference' && field.to) return { kind: 'reference', of: toNamed(field.to) }
  if (field.kind === 'list')
    return {
      kind: 'words',
      ...(field.of.kind === 'text' && field.of.form && { form: field.of.form }),
    }
  if (field.kind === 'source') return { kind: 'source' }
  if (field.kind === 'words' && typeof field.of[0] === 'number') return { kind: 'integer' }
  return { kind: typedOtherwise[field.kind] ?? 'text' }
}

/** The owner of a new object; only the system administrator chooses it. */
export function ownerField(summary: string): Field {
  return {
    name: 'organization',
    summary: `${summary}; for the system administrator`,
    type: { kind: 'reference', of: toNamed(organization) },
    only: 'add',
  }
}
