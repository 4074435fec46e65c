/** Form fields: a label, the API's error about the field, a hint. */
import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import type { CallError } from '../api/http.js'
import { isAbout } from './is-about.js'
import { startSentence } from './start-sentence.js'
import type { TextRange } from './text-range.js'
import { MarkedArea } from './marked-area.js'

interface FieldProps<T> {
  readonly label: string
  readonly value: Signal<T>
  readonly hint?: string
  /** The API's name of the field: errors about it are shown at the field. */
  readonly name?: string
  readonly error?: CallError | null
  /** A problem with the current input, shown like an error but without moving the focus. */
  readonly advice?: CallError | null
  readonly required?: boolean
  readonly disabled?: boolean
}

export interface TextFieldProps extends FieldProps<string> {
  readonly type?: 'text' | 'password' | 'email' | 'number' | 'url'
  readonly autoComplete?: string
  readonly autoFocus?: boolean
  readonly placeholder?: string
  /** Number of lines; makes it a text area. */
  readonly lines?: number
  /** For a text area: masks its text. */
  readonly isSecret?: boolean
  /** For a text area that can mark a wrong part; null: nothing is wrong. */
  readonly mark?: TextRange | null
}

export function TextField(props: TextFieldProps) {
  const {
    value,
    type = 'text',
    autoComplete = 'off',
    autoFocus = false,
    placeholder,
    lines,
    mark,
    isSecret = false,
  } = props
  const place = useRef<HTMLInputElement & HTMLTextAreaElement>(null)
  // In a layout effect, before the paint, like every focus change: later the user may already be typing elsewhere.
  useLayoutEffect(() => {
    if (autoFocus) place.current?.focus()
  }, [])
  const { error, name } = props
  // Selects the refused text, so that typing replaces it.
  useLayoutEffect(() => {
    if (mark && isAbout(error, name)) place.current?.setSelectionRange(mark.from, mark.to)
  }, [error])
  return (
    <Framed {...props}>
      {(rest) => {
        const shared = {
          ...rest,
          ref: place,
          autoComplete,
          placeholder,
          class: `field-input${isSecret ? ' field-secret' : ''}`,
          value: value.value,
          onInput: (event: { readonly currentTarget: { readonly value: string } }) => {
            value.value = event.currentTarget.value
          },
        }
        if (lines === undefined) return <input {...shared} type={type} spellcheck={false} />
        if (mark === undefined) return <textarea {...shared} rows={lines} spellcheck={false} />
        const onText = (text: string): void => {
          value.value = text
        }
        return (
          <MarkedArea
            lines={lines}
            mark={mark}
            place={place}
            onText={onText}
            text={value.value}
            control={rest}
          />
        )
      }}
    </Framed>
  )
}

interface SelectFieldProps extends FieldProps<string> {
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
  const { label, hint, name, error, advice, required = false, disabled = false, children } = props
  const id = useId()
  const isRefused = isAbout(error, name)
  const wrong = [error, advice].find((one) => isAbout(one, name))?.errorMsg
  const note = wrong === undefined ? hint : startSentence(wrong)
  useLayoutEffect(() => {
    if (isRefused) document.getElementById(id)?.focus()
  }, [isRefused, error])
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {label}
      </label>
      {children({
        id,
        required,
        disabled,
        'aria-invalid': wrong !== undefined,
        'aria-describedby': note === undefined ? undefined : `${id}-note`,
      })}
      {note !== undefined && (
        <p class={wrong === undefined ? 'field-hint' : 'field-wrong'} id={`${id}-note`}>
          {note}
        </p>
      )}
    </div>
  )
}
