/** A choice between several views of the same data. */
import type { ComponentChildren } from 'preact'

interface Choice {
  readonly value: string
  readonly title: ComponentChildren
  /** Number of rows it would show. */
  readonly count?: number
}

interface ChoicesProps {
  readonly label: string
  readonly choices: readonly Choice[]
  readonly value: string
  readonly onChoose: (value: string) => void
}

export function Choices({ label, choices, value, onChoose }: ChoicesProps) {
  return (
    <div class="choices" role="group" aria-label={label}>
      {choices.map((one) => (
        <button
          key={one.value}
          type="button"
          class="choice"
          aria-pressed={one.value === value}
          onClick={() => {
            onChoose(one.value)
          }}
        >
          {one.title}
          {one.count !== undefined && <span class="choice-count">{one.count}</span>}
        </button>
      ))}
    </div>
  )
}
