/** Waiting for phase two: until the wanted share of the placed agents has applied, or each has applied or failed. */
import { judgeSwitch } from '../../domain/deploy-outcome.js'
import { readPlacements } from '../../store/placements.js'
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
      const placements = await readPlacements(service.store.queries, { groupIds: [groupId] })
      return judgeSwitch({ places: placements, percent }).done || undefined
    },
    { untilMs: service.now() + longestWaitMs, signal: service.background.signal },
  )
  return { completed: done ?? false }
}
