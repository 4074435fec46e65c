/** The VCL groups placed on a cache, and the progress of each. */
import { Link } from 'wouter-preact'
import type { Agent } from '../../../resources/agent.js'
import { useList } from '../../api/list.js'
import { placeStateName } from '../../../resources/place-state.js'
import type { Group } from '../../../resources/vclgroup.js'
import { ErrorNote } from '../../parts/error-note.js'
import { StateChip } from '../../parts/state-chip.js'

export function PlacedPanel({ agent }: { readonly agent: Agent }) {
  const { rows, phase, error, reload } = useList<Group>('/vclgroups', {
    query: { deployed: 'true', sort: 'name' },
    follow: ['deployment'],
  })
  const placed = rows.flatMap((group) => {
    const place = group.agentStates.find((one) => one.agent.id === agent.id)
    return place ? [{ group, place }] : []
  })
  return (
    <section class="panel" aria-label="Groups on this cache">
      <h2>Groups on this cache</h2>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {phase === 'ready' && !error && placed.length === 0 && (
        <p class="quiet">
          No group yet. A group is placed here if this cache has all tags of one of its deployments.
        </p>
      )}
      {placed.length > 0 && (
        <ul class="plain-list cache-placed">
          {placed.map(({ group, place }) => (
            <li key={group.id}>
              <div class="row">
                <Link href={`/groups/${group.id}`} class="cache-placed-name">
                  {group.name}
                </Link>
                {group.root && <span class="quiet">root</span>}
                <StateChip state={placeStateName(place.state, agent.state)} />
                {place.revision !== null && <span class="quiet">revision {place.revision}</span>}
              </div>
              {place.error !== null && <pre tabIndex={0}>{place.error}</pre>}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
