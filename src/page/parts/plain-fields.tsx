/** Inputs, facts and columns of a resource's fields that are one value each, by their definition. */
import { signal, type Signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { plainFields, titleOf, type Resource } from '../../resources/resource.js'
import type { CallError } from '../api/http.js'
import { CheckField, TextField } from './field.js'
import type { Fact } from './facts.js'
import type { Column } from './table.js'

interface Input {
  readonly name: string
  readonly label: string
  readonly field: ReturnType<typeof plainFields>[number][1]
  readonly text: Signal<string>
  /** In place of the text, of a flag. */
  readonly flag: Signal<boolean>
}

export interface PlainForm {
  readonly inputs: readonly Input[]
  readonly names: readonly string[]
  /** As a body has them. */
  readonly read: () => Readonly<Record<string, unknown>>
}

/** `start`: the object that is changed; null: one is made. */
export function usePlainForm({ fields, nameField }: Resource, start: object | null): PlainForm {
  return useMemo(() => {
    const inputs = plainFields(fields).map(([name, field]) => {
      const value: unknown = start ? Reflect.get(start, name) : field.write.default
      const label = name === nameField ? 'Name' : titleOf(name, field)
      return { name, label, field, text: signal(toText(value)), flag: signal(value === true) }
    })
    const read = () => Object.fromEntries(inputs.map((input) => [input.name, readInput(input)]))
    return { inputs, names: inputs.map(({ name }) => name), read }
  }, [])
}

function toText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function readInput({ field: { kind, nullable }, text, flag }: Input): unknown {
  if (kind === 'flag') return flag.value
  if (text.value === '' && nullable === true) return null
  return kind === 'integer' ? Number(text.value) : text.value
}

interface PlainInputsProps {
  readonly form: PlainForm
  readonly error: CallError | null
  /** Of the first input, which is the name of most. */
  readonly hint?: string
}

export function PlainInputs({ form, error, hint }: PlainInputsProps) {
  return (
    <>
      {form.inputs.map(({ name, label, field, text, flag }, index) =>
        field.kind === 'flag' ? (
          <CheckField key={name} label={label} value={flag} />
        ) : (
          <TextField
            key={name}
            {...{ name, label, error }}
            value={text}
            type={field.kind === 'integer' ? 'number' : 'text'}
            hint={index === 0 && hint !== undefined ? hint : (field.write.summary ?? '')}
            required={field.write.required === true}
            autoFocus={index === 0}
          />
        ),
      )}
    </>
  )
}

/** The plain fields beside the name that have a value. */
export function listPlainFacts(of: object, resource: Resource): readonly Fact[] {
  return listOthers(resource).map(([name, field]) => {
    const value = toFact(Reflect.get(of, name))
    return [titleOf(name, field), value !== '' && value]
  })
}

/** Of the plain fields beside the name, those that lists show. */
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
