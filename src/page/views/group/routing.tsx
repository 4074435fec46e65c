/** The generated VCL that routes requests to a group by host, on each cache that has it, and what a deploy would change in it. */
import type { AgentRouting, Group } from '../../../resources/vclgroup.js'
import { useObject } from '../../api/object.js'
import { DiffText } from '../../parts/diff-text.js'
import { ErrorNote } from '../../parts/error-note.js'
import { compareRouting } from './compare-routing.js'
import { formatNames } from '../../parts/format-names.js'
import { NameChanges } from './name-changes.js'
import { useSettled } from './use-settled.js'

interface Answer {
  readonly agents: readonly AgentRouting[]
}

export function RoutingTab({ group }: { readonly group: Group }) {
  const { wish, domains, id } = group
  const path = `/vclgroups/${id}/routing`
  const now = useObject<Answer>(path)
  const next = useObject<Answer>(`${path}?next=true`)
  useSettled(group, () => {
    now.reload()
    next.reload()
  })
  const error = now.error ?? next.error
  return (
    <section class="panel" aria-label="Routing">
      <NameChanges
        label="Domains"
        before={(wish?.domains ?? []).map(({ fqdn }) => fqdn)}
        after={domains.map(({ fqdn }) => fqdn)}
        none="None."
      />
      {error && <ErrorNote error={error} onRetry={next.reload} />}
      {now.value && next.value && <Changes now={now.value.agents} next={next.value.agents} />}
      {now.value && <Present agents={now.value.agents} />}
    </section>
  )
}

interface ChangesProps {
  readonly now: readonly AgentRouting[]
  readonly next: readonly AgentRouting[]
}

function Changes({ now, next }: ChangesProps) {
  const changes = compareRouting(now, next)
  return (
    <>
      <h2>What a deploy changes in the routing VCL</h2>
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

function Present({ agents: all }: { readonly agents: readonly AgentRouting[] }) {
  return (
    <>
      <h2>As it is now</h2>
      {all.length === 0 && <p class="quiet">Nothing is routed to this group yet.</p>}
      {groupAlike(all).map(({ source, agents }) => (
        <div key={source} class="group-routing">
          <p class="quiet">On {formatNames(agents)}</p>
          <pre
            class="group-source"
            tabIndex={0}
            role="region"
            aria-label={`Routing on ${formatNames(agents)}`}
          >
            {source}
          </pre>
        </div>
      ))}
    </>
  )
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
