/** Waiting for phase two: until the wanted share of the placed agents has applied, or each that is there did or failed. */
import { agentStates } from '../../domain/agent-state.js'
import { judgeSwitch } from '../../domain/deploy-outcome.js'
import { countGroupPlaces, type AlikePlaces } from '../../store/group-places.js'
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
      const places = await countGroupPlaces(service.store.queries, groupId)
      return judgeSwitch({ places: places.flatMap(toSwitched), percent }).done || undefined
    },
    { untilMs: service.now() + longestWaitMs, signal: service.background.signal },
  )
  return { completed: done ?? false }
}

function toSwitched({
  state,
  agentState,
  count,
}: AlikePlaces): { readonly state: typeof state | 'away' }[] {
  const isOver = state === 'applied' || state === 'failed'
  const isAway = !isOver && agentState !== agentStates.Running
  return Array.from({ length: count }, () => ({ state: isAway ? 'away' : state }))
}
