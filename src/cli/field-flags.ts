/** The flags of add and update: one per API field, in kebab-case. object-body.ts reads their values. */
import { toKebab, type Field, type FieldType, type Flag } from './verb.js'

/** The flags for a noun's fields, and `--data`. */
export function fieldFlags(fields: readonly Field[], verb: 'add' | 'update'): readonly Flag[] {
  const flags = fields
    .filter(({ only = verb }) => only === verb)
    .flatMap((field): Flag[] => {
      const name = toKebab(field.name)
      const isBoolean = field.type.kind === 'boolean'
      const argument = isBoolean ? '' : ` <${argumentOf(field.type)}>`
      const flag = { form: `--${name}${argument}`, summary: field.summary }
      const mayClear = isBoolean || (verb === 'update' && field.clearable === true)
      const clearing = isBoolean ? `${field.name}: false` : `empty, or the default`
      return mayClear ? [flag, { form: `--no-${name}`, summary: clearing }] : [flag]
    })
  return [
    ...flags,
    { form: '--data <json>', summary: 'the whole body: JSON, @FILE, or - for standard input' },
  ]
}

function argumentOf(type: FieldType): string {
  switch (type.kind) {
    case 'text':
    case 'boolean':
      return 'text'
    case 'integer':
      return 'number'
    case 'moment':
      return 'time'
    case 'words':
      return 'word,...'
    case 'numbers':
      return 'name=number,...'
    case 'grants':
      return 'type:access,...'
    case 'source':
      return 'text|@file|-'
    case 'reference':
      return type.of.singular
    case 'references':
      return `${type.of.singular},...`
  }
}
