/** State of a view kept in the address, so that it survives a reload and can be shared. */
import { useLocation, useSearch } from 'wouter-preact'

/** Empty: not in the address. A change adds a history entry only with `isStep`, so that Back undoes it. */
export function useAddressField(
  name: string,
  { isStep = false } = {},
): readonly [string, (value: string) => void] {
  const search = useSearch()
  const [path, go] = useLocation()
  const set = (value: string): void => {
    // Other fields may have changed since the last render.
    const fields = new URLSearchParams(location.search)
    if (value === '') fields.delete(name)
    else fields.set(name, value)
    const words = fields.toString()
    go(words === '' ? path : `${path}?${words}`, { replace: !isStep })
  }
  return [new URLSearchParams(search).get(name) ?? '', set]
}

/** The text of the header's search box, in lower case: a view with `search` filters its rows by it. */
export function useSearchText(): string {
  return useAddressField('q')[0].toLowerCase()
}
