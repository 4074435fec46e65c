/** The last panic message of a cache's child process. */
import type { Agent } from '../../../resources/agent.js'
import { useObject } from '../../api/object.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'

export function PanicPanel({ agent }: { readonly agent: Agent }) {
  const isAway = agent.state === 3
  const { value, error, reload } = useObject<{ readonly panic: string | null }>(
    isAway ? null : `/agents/${agent.id}/panic`,
    { follow: 'agent', id: agent.id },
  )
  return (
    <section class="panel" aria-label="Last panic">
      <h2>Last panic</h2>
      {isAway && <p class="quiet">Not known while the agent is offline.</p>}
      {error && <ErrorNote error={error} onRetry={reload} />}
      {!isAway && !value && !error && <Loading />}
      {value?.panic === null && <p class="quiet">None.</p>}
      {value?.panic != null && (
        <pre class="cache-panic" tabIndex={0}>
          {value.panic}
        </pre>
      )}
    </section>
  )
}
