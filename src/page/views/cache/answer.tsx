/** An answer of a cache: loading, refused, empty, or there. */
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
  /** When it is empty. */
  readonly title: string
  /** What is known of it otherwise: shown while it is Down and was not read before. */
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
  // What is wrong stands above; there is nothing to try again before it is back.
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

/** What was read before it went is shown as long as the view stays open. */
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
        The cache is unreachable: the last heartbeat of its agent was <Time at={agent.lastHeartbeat} isAgo />.
        {children ? ' Below is what it answered before.' : ''}
      </p>
      {children && <div class="cache-before">{children}</div>}
    </>
  )
}
