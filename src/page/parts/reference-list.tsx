/** Objects that use another one, each as a link. */
import { Link } from 'wouter-preact'

interface ReferenceListProps {
  readonly items: readonly { readonly id: number; readonly name: string }[]
  /** If omitted, the user may not see them. */
  readonly hrefOf?: ((id: number) => string) | undefined
  /** Shown if there are none. */
  readonly none: string
}

/** Only the number of the rest is shown. */
const maxShown = 200

export function ReferenceList({ items, hrefOf, none }: ReferenceListProps) {
  if (items.length === 0) return <p class="quiet reference-none">{none}</p>
  return (
    <ul class="references">
      {items.slice(0, maxShown).map(({ id, name }) => (
        <li key={id}>{hrefOf ? <Link href={hrefOf(id)}>{name}</Link> : name}</li>
      ))}
      {items.length > maxShown && <li class="quiet">and {items.length - maxShown} more</li>}
    </ul>
  )
}
