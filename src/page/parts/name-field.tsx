/** Chooses objects by name where space is limited: an input with suggestions, and the chosen names. */
import { useSignal } from '@preact/signals'
import { useEffect, useId } from 'preact/hooks'
import type { Reference } from '../../resources/resource.js'
import { Button } from './button.js'

/** Browsers handle a list of this length well; typing finds the rest. */
const maxOffered = 200

interface NameFieldProps {
  readonly label: string
  readonly placeholder: string
  /** Null: not read yet. */
  readonly rows: readonly Reference[] | null
  readonly chosen: readonly number[]
  /** Shown while the user is not typing. */
  readonly current?: string
  readonly onChoose: (id: number) => void
}

/** Accepts a suggestion that is picked; on Enter or blur accepts an exact match or the first name that fits. */
export function NameField(props: NameFieldProps) {
  const { label, placeholder, rows, chosen, current = '', onChoose } = props
  /** Null: the user is not typing. */
  const typed = useSignal<string | null>(null)
  /** The user confirmed before the names were loaded; further typing resets it. */
  const isEntered = useSignal(false)
  const id = useId()
  const words = typed.value?.toLowerCase() ?? ''
  const fitting = (rows ?? []).filter(({ name }) => name.toLowerCase().includes(words))
  const take = (row: Reference | undefined): void => {
    typed.value = null
    if (row && !chosen.includes(row.id)) onChoose(row.id)
  }
  const takeFirst = (): void => {
    const isTyped = typed.value !== null && words !== ''
    isEntered.value = isTyped && rows === null
    if (isEntered.value) return
    take(
      isTyped
        ? (fitting.find(({ name }) => name.toLowerCase() === words) ?? fitting[0])
        : undefined,
    )
  }
  useEffect(() => {
    if (rows !== null && isEntered.peek()) takeFirst()
  }, [rows])
  return (
    <>
      <input
        class="field-input name-field"
        list={id}
        aria-label={label}
        placeholder={placeholder}
        spellcheck={false}
        value={typed.value ?? current}
        onInput={(event) => {
          const { value: now } = event.currentTarget
          typed.value = now
          isEntered.value = false
          // A suggestion was picked. Plain typing is not accepted here, because a longer name may be meant.
          if (!(event instanceof InputEvent) || event.inputType === 'insertReplacementText')
            take(rows?.find(({ name }) => name === now))
        }}
        onKeyDown={({ key }) => {
          if (key === 'Enter') takeFirst()
          if (key !== 'Escape') return
          typed.value = null
          isEntered.value = false
        }}
        onFocus={({ currentTarget }) => {
          currentTarget.select()
        }}
        onBlur={takeFirst}
      />
      <datalist id={id}>
        {fitting.slice(0, maxOffered).map((row) => (
          <option key={row.id} value={row.name} />
        ))}
      </datalist>
    </>
  )
}

interface ChosenNamesProps {
  readonly label: string
  readonly names: readonly Reference[]
  readonly onDrop: (id: number) => void
}

export function ChosenNames({ label, names, onDrop }: ChosenNamesProps) {
  return (
    <ul class="name-chosen" aria-label={label}>
      {names.map(({ id, name }) => (
        <li key={id}>
          {name}
          <Button
            kind="quiet"
            icon="close"
            label={`Remove ${name}`}
            onClick={() => {
              onDrop(id)
            }}
          />
        </li>
      ))}
    </ul>
  )
}
