/** What the address bar holds of a view: it survives a reload and can be sent to others. */
import { useLocation, useSearch } from 'wouter-preact'

/** Empty: not in the address. Setting it makes a step in the history only where `isStep` says so: Back undoes it. */
export function useAddressField(
  name: string,
  { isStep = false } = {},
): readonly [string, (value: string) => void] {
  const search = useSearch()
  const [path, go] = useLocation()
  const set = (value: string): void => {
    // Others may have changed their fields since this was drawn.
    const fields = new URLSearchParams(location.search)
    if (value === '') fields.delete(name)
    else fields.set(name, value)
    const words = fields.toString()
    go(words === '' ? path : `${path}?${words}`, { replace: !isStep })
  }
  return [new URLSearchParams(search).get(name) ?? '', set]
}

/** What was typed in the header's search box, in lower case: a view that has `search` shows what holds it. */
export function useSearchText(): string {
  return useAddressField('q')[0].toLowerCase()
}
