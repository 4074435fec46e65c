/** A name of which the end stays in sight when there is no room: caches of a fleet differ in their last word. */
import { splitName } from './pick-agents.js'

export function CacheName({ name }: { readonly name: string }) {
  const { start, end } = splitName(name)
  return (
    <span class="caches-name">
      <span class="caches-name-start">{start}</span>
      {end !== '' && <span class="caches-name-end">{end}</span>}
    </span>
  )
}
