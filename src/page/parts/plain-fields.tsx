/** Inputs, facts and columns of a resource's single-value fields, derived from their definition. */
import { plainFields, titleOf, type Field, type Resource } from '../../resources/resource.js'
import type { Fact } from './facts.js'
import { toText, useInputForm, type FormInput, type InputForm } from './input-form.js'
import type { Column } from './table.js'

interface PlainFormOptions {
  /** Hint of the first input, usually the name; defaults to the summary in the definition. */
  readonly hint?: string
}

/** `start`: the object to change; null: a new one is created. */
export function usePlainForm(
  { fields, nameField }: Resource,
  start: object | null,
  { hint }: PlainFormOptions = {},
): InputForm {
  const plain = plainFields(fields)
  const inputs = plain.map(([name, field], place): [string, FormInput] => [
    name,
    {
      label: name === nameField ? 'Name' : titleOf(name, field),
      hint: place === 0 && hint !== undefined ? hint : (field.write.summary ?? ''),
      type: inputTypes[field.kind] ?? 'text',
      required: field.write.required === true,
      isNullable: field.nullable === true,
    },
  ])
  const defaults = plain.map(([name, { write }]) => [name, write.default] as const)
  return useInputForm(Object.fromEntries(inputs), start ?? Object.fromEntries(defaults))
}

const inputTypes: Readonly<Partial<Record<Field['kind'], FormInput['type']>>> = {
  integer: 'number',
  flag: 'check',
  list: 'words',
}

/** Lists the plain fields, except the name, that have a value. */
export function listPlainFacts(of: object, resource: Resource): readonly Fact[] {
  return listOthers(resource).map(([name, field]) => {
    const value = toFact(Reflect.get(of, name))
    return [titleOf(name, field), value !== '' && value]
  })
}

/** Columns of the plain fields, except the name, that lists show. */
export function plainColumns<T extends object>(resource: Resource): readonly Column<T>[] {
  return listOthers(resource)
    .filter(([name]) => resource.columns.includes(name))
    .map(([name, field]) => {
      const textOf = (row: T): string => toFact(Reflect.get(row, name))
      return { title: titleOf(name, field), from: 'wide', show: textOf, sortBy: textOf }
    })
}

function toFact(value: unknown): string {
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : toText(value)
}

function listOthers({ fields, nameField }: Resource) {
  return plainFields(fields).filter(([name]) => name !== nameField)
}
