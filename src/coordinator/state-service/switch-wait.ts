/** Waiting for phase two: until the wanted share of the placed agents has applied, or each that is there did or failed. */
import { agentStates } from '../../domain/agent-state.js'
import { judgeSwitch } from '../../domain/deploy-outcome.js'
import { readGroupPlaces, type GroupPlace } from '../../store/group-places.js'
import type { StateService } from './service.js'
import { watchAgents } from './watch-agents.js'

/** Chosen by us: nobody waits longer for an agent that neither applies nor fails; it converges when it can. */
const longestWaitMs = 600_000

export async function waitForSwitch(
  service: StateService,
  groupId: number,
  percent: number,
): Promise<{ readonly completed: boolean }> {
  const done = await watchAgents(
    service,
    async () => {
      const places = await readGroupPlaces(service.store.queries, [groupId])
      return judgeSwitch({ places: places.map(toSwitched), percent }).done || undefined
    },
    { untilMs: service.now() + longestWaitMs, signal: service.background.signal },
  )
  return { completed: done ?? false }
}

function toSwitched({ state, agentState }: GroupPlace): { readonly state: typeof state | 'away' } {
  const isOver = state === 'applied' || state === 'failed'
  return { state: isOver || agentState === agentStates.Running ? state : 'away' }
}
