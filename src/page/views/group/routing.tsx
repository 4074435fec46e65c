/** The generated VCL that hands requests to a group by their host, on each cache where it stands; and what a deploy would change in it. */
import type { AgentRouting, Group } from '../../../resources/vclgroup.js'
import { useObject } from '../../api/object.js'
import { DiffText } from '../../parts/diff-text.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { compareRouting } from './compare-routing.js'
import { formatNames } from '../../parts/format-names.js'
import { useSettled } from './use-settled.js'

interface Answer {
  readonly agents: readonly AgentRouting[]
}

export function Routing({ group }: { readonly group: Group }) {
  const { value, error, reload } = useObject<Answer>(`/vclgroups/${group.id}/routing`)
  useSettled(group, reload)
  if (error) return <ErrorNote error={error} onRetry={reload} />
  if (value?.agents.length === 0)
    return (
      <Empty icon="domain" title="Nothing is routed to this group yet">
        <p>Once it is deployed, the VCL that picks it by the host of a request is shown here.</p>
      </Empty>
    )
  return groupAlike(value?.agents ?? []).map(({ source, agents }) => (
    <section class="panel" key={source} aria-label={`Routing on ${agents[0] ?? ''}`}>
      <h2 class="group-agents">{formatNames(agents)}</h2>
      <pre class="group-source" tabIndex={0}>
        {source}
      </pre>
    </section>
  ))
}

/** Caches with the same text are shown together. */
function groupAlike(
  all: readonly AgentRouting[],
): readonly { readonly source: string; readonly agents: readonly string[] }[] {
  const bySource = new Map<string, string[]>()
  for (const { agent, source } of all)
    bySource.set(source, [...(bySource.get(source) ?? []), agent.name])
  return [...bySource].map(([source, agents]) => ({ source, agents }))
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
      {changes.length === 0 && <p class="quiet">No change on any cache.</p>}
      {changes.map(({ diff, agents }) => (
        <div key={diff} class="group-routing">
          <p class="quiet">On {formatNames(agents)}</p>
          <DiffText text={diff} label={`What changes in the routing on ${formatNames(agents)}`} />
        </div>
      ))}
    </>
  )
}
