/** One tag of those that the caches bear. */
export interface TagFilterProps {
  readonly tags: readonly { readonly name: string; readonly count: number }[]
  /** Empty: all. */
  readonly value: string
  readonly onChoose: (name: string) => void
}

export function TagFilter({ tags, value, onChoose }: TagFilterProps) {
  // A link may name a tag that nothing bears any more.
  const isKnown = value === '' || tags.some(({ name }) => name === value)
  return (
    <select
      class="field-input caches-tag"
      aria-label="Tag"
      value={value}
      onChange={({ currentTarget }) => {
        onChoose(currentTarget.value)
      }}
    >
      <option value="">All tags</option>
      {!isKnown && <option value={value}>{value} (0)</option>}
      {tags.map(({ name, count }) => (
        <option key={name} value={name}>
          {name} ({count})
        </option>
      ))}
    </select>
  )
}
