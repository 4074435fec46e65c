/** Filters a long list of one cache; the text lives in the address bar. */
import { useAddressField } from '../../shell/address.js'

/** Rows: a table of fewer is as high as they are. */
export const filledFrom = 10

export function FindField({ label }: { readonly label: string }) {
  const [text, set] = useAddressField('find')
  return (
    <input
      class="field-input cache-find"
      type="search"
      aria-label={label}
      placeholder={label}
      value={text}
      onInput={({ currentTarget }) => {
        set(currentTarget.value)
      }}
    />
  )
}
