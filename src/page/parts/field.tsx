/** Fields of forms: a label, what goes wrong with them in the API's words, a hint. */
import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import type { CallError } from '../api/http.js'
import { isAbout } from './is-about.js'

interface FieldProps<T> {
  readonly label: string
  readonly value: Signal<T>
  readonly hint?: string
  /** The API's name of it: an error about it stands at the field. */
  readonly name?: string
  readonly error?: CallError | null
  readonly required?: boolean
  readonly disabled?: boolean
}

export interface TextFieldProps extends FieldProps<string> {
  readonly type?: 'text' | 'password' | 'email' | 'number' | 'url'
  readonly autoComplete?: string
  readonly autoFocus?: boolean
  readonly placeholder?: string
  /** A text area of so many lines. */
  readonly lines?: number
}

export function TextField(props: TextFieldProps) {
  const {
    value,
    type = 'text',
    autoComplete = 'off',
    autoFocus = false,
    placeholder,
    lines,
  } = props
  const place = useRef<HTMLInputElement & HTMLTextAreaElement>(null)
  useEffect(() => {
    if (autoFocus) place.current?.focus()
  }, [])
  return (
    <Framed {...props}>
      {(rest) => {
        const shared = {
          ...{ ...rest, ref: place, autoComplete, placeholder, class: 'field-input' },
          value: value.value,
          onInput: (event: { readonly currentTarget: { readonly value: string } }) => {
            value.value = event.currentTarget.value
          },
        }
        return lines === undefined ? (
          <input {...shared} type={type} spellcheck={false} />
        ) : (
          <textarea {...shared} rows={lines} spellcheck={false} />
        )
      }}
    </Framed>
  )
}

export interface SelectFieldProps extends FieldProps<string> {
  readonly options: readonly { readonly value: string; readonly title: string }[]
}

export function SelectField(props: SelectFieldProps) {
  const { value, options } = props
  return (
    <Framed {...props}>
      {(rest) => (
        <select
          {...rest}
          class="field-input"
          value={value.value}
          onChange={(event) => {
            value.value = event.currentTarget.value
          }}
        >
          {options.map((one) => (
            <option key={one.value} value={one.value}>
              {one.title}
            </option>
          ))}
        </select>
      )}
    </Framed>
  )
}

export function CheckField({ label, value, disabled, hint }: FieldProps<boolean>) {
  return (
    <label class="field-check">
      <input
        type="checkbox"
        checked={value.value}
        disabled={disabled}
        onChange={(event) => {
          value.value = event.currentTarget.checked
        }}
      />
      <span>
        {label}
        {hint !== undefined && <span class="field-hint"> {hint}</span>}
      </span>
    </label>
  )
}

interface FramedProps extends Omit<FieldProps<unknown>, 'value'> {
  readonly children: (control: {
    readonly id: string
    readonly required: boolean
    readonly disabled: boolean
    readonly 'aria-invalid': boolean
    readonly 'aria-describedby': string | undefined
  }) => ComponentChildren
}

function Framed(props: FramedProps) {
  const { label, hint, name, error, required = false, disabled = false, children } = props
  const id = useId()
  const isWrong = isAbout(error, name)
  const note = isWrong ? error?.errorMsg : hint
  useEffect(() => {
    if (isWrong) document.getElementById(id)?.focus()
  }, [isWrong, error])
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {label}
      </label>
      {children({
        ...{ id, required, disabled },
        'aria-invalid': isWrong,
        'aria-describedby': note === undefined ? undefined : `${id}-note`,
      })}
      {note !== undefined && (
        <p class={isWrong ? 'field-wrong' : 'field-hint'} id={`${id}-note`}>
          {note}
        </p>
      )}
    </div>
  )
}
