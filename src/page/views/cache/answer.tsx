/** Shows the state of a cache's answer: loading, refused, empty, or its contents. */
import type { ComponentChildren } from 'preact'
import type { CallError } from '../../api/http.js'
import { agentStates } from '../../../resources/agent-state.js'
import type { Agent } from '../../../resources/agent.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import type { IconName } from '../../parts/icon.js'
import { Loading } from '../../parts/loading.js'
import { Time } from '../../parts/time.js'

interface CacheAnswerProps {
  readonly agent: Agent
  readonly value: unknown
  readonly error: CallError | null
  readonly reload: () => void
  readonly isEmpty: boolean
  readonly icon: IconName
  /** Shown for an empty answer. */
  readonly title: string
  /** Data from another source: shown while the agent is Down if no answer was read before. */
  readonly known?: ComponentChildren
  readonly children: ComponentChildren
}

export function CacheAnswer({
  agent,
  value,
  error,
  reload,
  isEmpty,
  icon,
  title,
  known,
  children,
}: CacheAnswerProps) {
  // The view's head shows the problem; retrying is useless until the agent is connected again.
  if (agent.state === agentStates.Down)
    return (
      <>
        <Away agent={agent}>{value !== null && children}</Away>
        {value === null && known}
      </>
    )
  return (
    <>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {value === null && !error && <Loading />}
      {isEmpty && !error ? <Empty icon={icon} title={title} /> : children}
    </>
  )
}

/** An answer from before the outage is shown as long as the view stays open. */
function Away({
  agent,
  children,
}: {
  readonly agent: Agent
  readonly children: ComponentChildren
}) {
  return (
    <>
      <p class="quiet">
        The cache is unreachable: the last heartbeat of its agent was{' '}
        <Time at={agent.lastHeartbeat} isAgo />.
        {children ? ' Below is what it answered before.' : ''}
      </p>
      {children && <div class="cache-before">{children}</div>}
    </>
  )
}
