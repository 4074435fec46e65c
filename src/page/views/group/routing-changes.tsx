/** What a deploy would change in the generated VCL that picks groups by the host of a request. */
import type { AgentRouting, Group } from '../../api/group.js'
import { useObject } from '../../api/object.js'
import { DiffText } from '../../parts/diff-text.js'
import { ErrorNote } from '../../parts/error-note.js'
import { compareRouting } from './compare-routing.js'
import { sayNames } from './say-names.js'
import { useSettled } from './use-settled.js'

interface Answer {
  readonly agents: readonly AgentRouting[]
}

export function RoutingChanges({ group }: { readonly group: Group }) {
  const path = `/vclgroups/${group.id}/routing`
  const now = useObject<Answer>(path)
  const next = useObject<Answer>(`${path}?next=true`)
  useSettled(group, () => {
    now.reload()
    next.reload()
  })
  const error = now.error ?? next.error
  if (error) return <ErrorNote error={error} onRetry={next.reload} />
  if (!now.value || !next.value) return null
  const changes = compareRouting(now.value.agents, next.value.agents)
  return (
    <>
      <h3>Routing VCL</h3>
      {changes.length === 0 && <p class="quiet">No cache routes differently.</p>}
      {changes.map(({ diff, agents }) => (
        <div key={diff} class="group-routing">
          <p class="quiet">On {sayNames(agents)}</p>
          <DiffText text={diff} label={`What changes in the routing on ${sayNames(agents)}`} />
        </div>
      ))}
    </>
  )
}
