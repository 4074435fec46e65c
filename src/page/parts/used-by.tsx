/** A panel that lists the objects using another one, each as a link. */
import { useList } from '../api/list.js'
import type { EventType } from '../../resources/event.js'
import type { Reference } from '../../resources/resource.js'
import { ErrorNote } from './error-note.js'
import { ReferenceList } from './reference-list.js'

interface UsedByProps {
  readonly title: string
  /** Path and filter of the API's list. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly follow?: readonly EventType[]
  readonly hrefOf: (id: number) => string
  /** Shown if there are none. */
  readonly none: string
}

export function UsedBy({ title, path, query, follow = [], hrefOf, none }: UsedByProps) {
  const { rows, phase, error, reload } = useList<Reference>(path, { query, follow })
  return (
    <section class="panel">
      <h2>{title}</h2>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {phase === 'ready' && !error && <ReferenceList items={rows} hrefOf={hrefOf} none={none} />}
    </section>
  )
}
