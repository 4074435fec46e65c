/** The header's search: filters the current view by a field in its address; in a view without search it opens the caches. */
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { useLocation, useRouter } from 'wouter-preact'
import { Icon } from '../parts/icon.js'
import { useAddressField } from './address.js'
import { findView, listViews } from './find-view.js'
import { useKey } from './keys.js'

export function SearchBox() {
  const [path, go] = useLocation()
  const [text, setText] = useAddressField('q')
  const elsewhere = useSignal('')
  const place = useRef<HTMLInputElement>(null)
  const here = findView(path, useRouter().parser)?.entry.search
  const other = listViews().find(({ search }) => search)
  useKey('/', 'Search', () => place.current?.focus())
  if (here === undefined && !other) return null

  const label = here ?? other?.search ?? ''
  const submit = (event: Event): void => {
    event.preventDefault()
    if (here !== undefined || !other) return
    const words = new URLSearchParams({ q: elsewhere.value })
    elsewhere.value = ''
    go(`${other.path}?${words}`)
  }
  return (
    <form class="search" role="search" onSubmit={submit}>
      <Icon name="search" />
      <input
        class="search-input"
        type="search"
        aria-label={label}
        placeholder={label}
        spellcheck={false}
        autoComplete="off"
        ref={place}
        value={here === undefined ? elsewhere.value : text}
        onInput={({ currentTarget: { value } }) => {
          if (here === undefined) elsewhere.value = value
          else setText(value)
        }}
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Escape') currentTarget.blur()
        }}
      />
      <kbd class="search-key from-medium">/</kbd>
    </form>
  )
}
