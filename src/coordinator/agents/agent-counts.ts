/** Counts agents by state for the metrics, without ids and names. */
import { agentStates } from '../../resources/agent-state.js'
import { countAgentsByState } from './count-queries.js'
import type { StateService } from '../service.js'
import type { Scope } from '../store/scope.js'

/** Frequent scrapes of the metrics do not query the store every time. */
const keptMs = 1000

export function createAgentCounter(
  service: Pick<StateService, 'store' | 'now'>,
): () => Promise<Readonly<Record<string, number>>> {
  let counted: Promise<Readonly<Record<string, number>>> | undefined
  let countedAt = 0
  return () => {
    if (counted && service.now() - countedAt < keptMs) return counted
    countedAt = service.now()
    counted = countAgents(service, { kind: 'all' })
    // An unavailable store is queried again.
    counted.catch(() => (counted = undefined))
    return counted
  }
}

/** Counts agents in scope by the name of their state. */
export async function countAgents(
  { store }: Pick<StateService, 'store'>,
  scope: Scope,
): Promise<Readonly<Record<keyof typeof agentStates, number>>> {
  const counts = await countAgentsByState(store.queries, scope)
  const named = Object.entries(agentStates).map(([name, state]) => [name, counts.get(state) ?? 0])
  return Object.fromEntries(named) as Record<keyof typeof agentStates, number>
}
