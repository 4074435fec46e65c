/** A name whose end stays visible in a narrow place: names in a fleet differ in their last word. */
import { splitName } from './filter-agents.js'

export function CacheName({ name }: { readonly name: string }) {
  const { start, end } = splitName(name)
  return (
    <span class="caches-name">
      <span class="caches-name-start">{start}</span>
      {end !== '' && <span class="caches-name-end">{end}</span>}
    </span>
  )
}
