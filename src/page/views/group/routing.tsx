/** The generated VCL that hands requests to a group, on each cache where it stands: alike ones once. */
import type { AgentRouting, Group } from '../../api/group.js'
import { useObject } from '../../api/object.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { groupRouting } from './group-routing.js'
import { sayNames } from './say-names.js'
import { useSettled } from './use-settled.js'

export function Routing({ group }: { readonly group: Group }) {
  const { value, error, reload } = useObject<{ readonly agents: readonly AgentRouting[] }>(
    `/vclgroups/${group.id}/routing`,
  )
  useSettled(group, reload)
  if (error) return <ErrorNote error={error} onRetry={reload} />
  if (value?.agents.length === 0)
    return (
      <Empty icon="domain" title="Nothing is routed to it yet">
        <p>Once it is deployed, the VCL that picks it by the host of a request is shown here.</p>
      </Empty>
    )
  return groupRouting(value?.agents ?? []).map(({ source, agents }) => (
    <section class="panel" key={source} aria-label={`Routing on ${agents[0] ?? ''}`}>
      <h2 class="group-agents">{sayNames(agents)}</h2>
      <pre class="group-source" tabIndex={0}>
        {source}
      </pre>
    </section>
  ))
}
