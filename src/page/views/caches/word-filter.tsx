/** One word of those that the caches have: a tag, a version, how their configuration is. */
import type { CountedWord } from './pick-agents.js'

export interface WordFilterProps {
  readonly label: string
  /** What choosing none is called. */
  readonly all: string
  readonly words: readonly CountedWord[]
  /** Empty: all. */
  readonly value: string
  readonly onChoose: (word: string) => void
}

export function WordFilter({ label, all, words, value, onChoose }: WordFilterProps) {
  // A link may name a word that no cache has any more.
  const isKnown = value === '' || words.some(({ word }) => word === value)
  return (
    <select
      class="field-input caches-words"
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => {
        onChoose(currentTarget.value)
      }}
    >
      <option value="">{all}</option>
      {!isKnown && <option value={value}>{value} (0)</option>}
      {words.map(({ word, count }) => (
        <option key={word} value={word}>
          {word} ({count})
        </option>
      ))}
    </select>
  )
}
