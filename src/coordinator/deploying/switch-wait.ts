/** Waiting for phase two: until the wanted share of the placed agents has applied, or each that is there did or failed. */
import type { PlaceHolder } from '../fleet/agent-index.js'
import { agentStates } from '../../resources/agent-state.js'
import { judgeSwitch } from './deploy-outcome.js'
import { countGroupPlaces, type AlikePlaces } from '../fleet/group-places.js'
import { readEffectiveRevisions } from '../fleet/effective-revisions.js'
import { readPlacements } from '../fleet/placement-queries.js'
import type { StateService } from '../service.js'
import { watchAgents } from '../agents/watch-agents.js'

/** Chosen by us: nobody waits longer for an agent that neither applies nor fails; it converges when it can. */
const longestWaitMs = 600_000

export async function waitForSwitch(
  service: StateService,
  holder: PlaceHolder,
  percent: number,
): Promise<{ readonly completed: boolean }> {
  const done = await watchAgents(
    service,
    async () => {
      const places = await countGroupPlaces(service.store.queries, holder)
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

/** Those of the agents that the group, or its stage, is on no longer hold what they should hold without it. */
export async function waitUntilLeft(
  service: StateService,
  { groupId, stage }: PlaceHolder,
  agentIds: readonly number[],
  untilMs: number,
): Promise<{ readonly completed: boolean }> {
  const { queries } = service.store
  const places = await readPlacements(queries, { groupIds: [groupId], stage })
  const staying = new Set(places.map(({ agentId }) => agentId))
  const left = agentIds.filter((id) => !staying.has(id))
  const until = { untilMs, signal: service.background.signal }
  const done = await watchAgents(service, () => isGone(service, left, 100), until)
  return { completed: done ?? false }
}

/** The wanted share of the agents that are there holds what it should hold without the group. */
export async function isGone(
  service: StateService,
  agentIds: readonly number[],
  percent: number,
): Promise<true | undefined> {
  const progress = await readEffectiveRevisions(service.store.queries, agentIds)
  const agents = progress.filter(({ state }) => state === agentStates.Running)
  const behind = agents.filter((agent) => agent.effectiveRevision !== agent.desiredRevision)
  const enough = agents.length - behind.length >= (agents.length * percent) / 100
  return enough || undefined
}
