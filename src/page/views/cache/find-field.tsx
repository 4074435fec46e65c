/** Filters a long list of one cache; the text is kept in the address. */
import { useAddressField } from '../../shell/address.js'

/** Number of rows; a shorter table is as high as its rows. */
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
