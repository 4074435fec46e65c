/** Fields of one value each, declared as data, and what is written in them. */
import { signal, type Signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { CallError } from '../api/http.js'
import { TextField, type TextFieldProps } from './field.js'

/** By the API's names; the first one gets the focus. */
export type Inputs<Name extends string = string> = Readonly<
  Record<Name, Omit<TextFieldProps, 'value' | 'name' | 'error' | 'autoFocus'>>
>

export type Draft<T> = { readonly [K in keyof T]: Signal<T[K]> }

/** A signal for each value; `start` is looked at once. */
export function useDraft<T extends object>(start: T): Draft<T> {
  return useMemo(() => {
    const signals = Object.entries(start).map(([name, value]) => [name, signal<unknown>(value)])
    return Object.fromEntries(signals) as Draft<T>
  }, [])
}

export function readDraft<T>(draft: Draft<T>): T {
  const values = Object.entries<Signal>(draft).map(([name, { value }]) => [name, value as unknown])
  return Object.fromEntries(values) as T
}

export interface TextInputsProps<Name extends string> {
  readonly of: Inputs<Name>
  readonly draft: Draft<Record<NoInfer<Name>, string>>
  readonly error: CallError | null
  readonly isFocused?: boolean
}

export function TextInputs<Name extends string>(props: TextInputsProps<Name>) {
  const { of, draft, error, isFocused = true } = props
  return Object.entries<Inputs[string]>(of).map(([name, input], place) => (
    <TextField
      key={name}
      {...{ name, error, ...input }}
      value={draft[name as Name]}
      autoFocus={isFocused && place === 0}
    />
  ))
}
