/** Chooses objects by name from a list that may be long: tags, files, domains, deployments. */
import { useSignal, type Signal } from '@preact/signals'
import { useId } from 'preact/hooks'
import type { CallError } from '../api/http.js'
import { isAbout } from './is-about.js'
import { startSentence } from './start-sentence.js'

interface PickOption {
  readonly id: number
  readonly name: string
  /** What choosing it means, or why it cannot be chosen. */
  readonly note?: string | null
  readonly disabled?: boolean
}

interface PickFieldProps {
  readonly label: string
  readonly options: readonly PickOption[]
  /** The chosen ids. */
  readonly value: Signal<readonly number[]>
  /** At most one can be chosen. */
  readonly isSingle?: boolean
  readonly hint?: string
  /** The name with which an error about this field begins. */
  readonly name?: string
  readonly error?: CallError | null
  readonly disabled?: boolean
}

/** The filter finds the rest of a longer list. */
const maxShown = 100
/** Shorter lists need no filter. */
const filteredFrom = 8

export function PickField(props: PickFieldProps) {
  const { label, options, value, isSingle = false, hint, name, error, disabled = false } = props
  const isWrong = isAbout(error, name)
  const text = useSignal('')
  const id = useId()
  const fitting = options.filter(({ name }) =>
    name.toLowerCase().includes(text.value.toLowerCase()),
  )
  const pick = (chosen: number, isChosen: boolean): void => {
    const others = isSingle ? [] : value.value.filter((one) => one !== chosen)
    value.value = isChosen ? [...others, chosen] : others
  }
  return (
    <fieldset class="pick" disabled={disabled}>
      <legend class="field-label">
        {label}
        <span class="field-hint">
          {isSingle ? '' : ` ${value.value.length} of ${options.length}`}
        </span>
      </legend>
      {options.length >= filteredFrom && (
        <input
          class="field-input"
          type="search"
          placeholder="Filter"
          aria-label={`Filter ${label}`}
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value
          }}
        />
      )}
      <div class="pick-list">
        {fitting.slice(0, maxShown).map((option) => (
          <label class="pick-one" key={option.id}>
            <input
              type={isSingle ? 'radio' : 'checkbox'}
              name={id}
              checked={value.value.includes(option.id)}
              disabled={option.disabled}
              onChange={({ currentTarget }) => {
                pick(option.id, currentTarget.checked)
              }}
            />
            <span>
              {option.name}{' '}
              {option.note !== undefined && <span class="pick-note">{option.note}</span>}
            </span>
          </label>
        ))}
        {fitting.length === 0 && <p class="field-hint">Nothing to choose from</p>}
        {fitting.length > maxShown && (
          <p class="field-hint">{fitting.length - maxShown} more: filter</p>
        )}
      </div>
      {isWrong && (
        <p class="field-wrong" role="alert">
          {startSentence(error?.errorMsg ?? '')}
        </p>
      )}
      {!isWrong && hint !== undefined && <p class="field-hint">{hint}</p>}
    </fieldset>
  )
}
