/** A form described by data: one input per value, and the request body built from them. */
import { signal, type Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import type { CallError } from '../api/http.js'
import { CheckField, TextField, type TextFieldProps } from './field.js'
import { splitWords } from './split-words.js'

type TextType = NonNullable<TextFieldProps['type']>

export interface FormInput extends Omit<
  TextFieldProps,
  'value' | 'name' | 'error' | 'autoFocus' | 'type'
> {
  /** `words`: a list separated by blanks. An empty password is omitted from the body. */
  readonly type?: TextType | 'check' | 'words'
  /** An empty input is sent as null. */
  readonly isNullable?: boolean
}

/** Keyed by the API's field names. */
export type FormInputs = Readonly<Record<string, FormInput>>

interface Bound {
  readonly name: string
  readonly input: FormInput
  readonly text: Signal<string>
  /** Used in place of `text` for a check box. */
  readonly flag: Signal<boolean>
}

export interface InputForm {
  readonly inputs: readonly Bound[]
  readonly names: readonly string[]
  /** Returns the values as they are sent in the body. */
  readonly read: () => Values
}

type Value = string | number | boolean | null | readonly string[]
export type Values = Readonly<Record<string, Value | undefined>>

/** `start`: the object to change, or the defaults of a new one; read once. */
export function useInputForm(of: FormInputs, start: object): InputForm {
  return useMemo(() => {
    const inputs = Object.entries(of).map(([name, input]): Bound => {
      const value: unknown = Reflect.get(start, name)
      return { name, input, text: signal(toText(value)), flag: signal(value === true) }
    })
    const read = () => {
      const values = inputs.map((one) => [one.name, readInput(one)] as const)
      return Object.fromEntries(values.filter(([, value]) => value !== undefined))
    }
    return { inputs, names: inputs.map(({ name }) => name), read }
  }, [])
}

export function toText(value: unknown): string {
  if (Array.isArray(value)) return value.map(toText).join(' ')
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function readInput({
  input: { type, isNullable },
  text: { value: text },
  flag,
}: Bound): Value | undefined {
  if (type === 'check') return flag.value
  if (text === '' && isNullable === true) return null
  if (type === 'words') return splitWords(text)
  if (type === 'password' && text === '') return undefined
  // The API refuses text that is not a number.
  return type === 'number' && !Number.isNaN(Number(text)) ? Number(text) : text
}

interface InputsProps {
  readonly form: InputForm
  readonly error: CallError | null
  readonly isFocused?: boolean
  /** Placed above the check boxes. */
  readonly children?: ComponentChildren
}

export function Inputs({ form, error, isFocused = true, children }: InputsProps) {
  const checks = form.inputs.filter(({ input }) => input.type === 'check')
  const texts = form.inputs.filter(({ input }) => input.type !== 'check')
  return (
    <>
      {texts.map(({ name, input, text }, place) => (
        <TextField
          key={name}
          name={name}
          error={error}
          {...input}
          type={toType(input.type)}
          value={text}
          autoFocus={isFocused && place === 0}
        />
      ))}
      {children}
      {checks.map(({ name, input: { label, hint }, flag }) => (
        <CheckField key={name} label={label} {...(hint !== undefined && { hint })} value={flag} />
      ))}
    </>
  )
}

function toType(type: FormInput['type'] = 'text'): TextType {
  return type === 'words' || type === 'check' ? 'text' : type
}
