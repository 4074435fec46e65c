/** Waiting for phase two: until enough agents serve what was switched, or no longer hold it. False: it goes on. */
import { agentStates } from '../../resources/agent-state.js'
import { watchAgents } from '../agents/watch-agents.js'
import type { PlacementHolder } from '../fleet/agent-index.js'
import { readEffectiveRevisions } from '../fleet/effective-revisions.js'
import { countGroupPlacements, type PlacementCount } from '../fleet/group-placements.js'
import { readPlacements } from '../fleet/placement-queries.js'
import type { PlacementState } from '../fleet/vcl-group.js'
import type { StateService } from '../service.js'

interface SwitchInput {
  /** Every place that the group has. `away`: its agent or cache does not answer; it goes forward when it does. */
  readonly places: readonly { readonly state: PlacementState | 'away' }[]
  /** 0 to 100: the share of the places that must have applied for an answer. */
  readonly percent: number
}

/**
 * How many places have yet to apply or fail: 0 when enough have applied, or each that is not away has applied or failed.
 */
export function countUnswitched({ places, percent }: SwitchInput): number {
  const applied = places.filter(({ state }) => state === 'applied').length
  const there = places.filter(({ state }) => state !== 'away')
  const unsettled = there.filter(({ state }) => state !== 'applied' && state !== 'failed').length
  const wanted = Math.max(0, Math.ceil((percent * places.length) / 100) - applied)
  const isAnybodyThere = there.length > 0 || places.length === 0
  return isAnybodyThere ? Math.min(unsettled, wanted) : wanted
}

/** Nobody waits longer for an agent that neither applies nor fails; it converges when it can. */
const longestWaitMs = 600_000

/** Until the wanted share of the placed agents has applied, or each that is there did or failed. */
export function waitForSwitch(
  service: StateService,
  holder: PlacementHolder,
  percent: number,
): Promise<boolean> {
  let missing = 1
  const poll = async (): Promise<boolean> => {
    const places = await countGroupPlacements(service.store.queries, holder)
    missing = countUnswitched({ places: places.flatMap(toSwitched), percent })
    return missing === 0
  }
  return waitUntil(service, poll, service.now() + longestWaitMs, () => missing)
}

function toSwitched({ state, agentState, count }: PlacementCount): SwitchInput['places'] {
  const isOver = state === 'applied' || state === 'failed'
  const isAway = !isOver && agentState !== agentStates.Running
  return Array.from({ length: count }, () => ({ state: isAway ? 'away' : state }))
}

/** Those of the agents that the group, or its stage, is on no longer hold what they should hold without it. */
export async function waitUntilLeft(
  service: StateService,
  { groupId, stage }: PlacementHolder,
  agentIds: readonly number[],
  untilMs: number,
): Promise<boolean> {
  const places = await readPlacements(service.store.queries, { groupIds: [groupId], stage })
  const staying = new Set(places.map(({ agentId }) => agentId))
  const left = agentIds.filter((id) => !staying.has(id))
  return waitUntilGone(service, left, { percent: 100, untilMs })
}

/** Until the wanted share of the agents that are there holds what it should hold, which is without the group. */
export function waitUntilGone(
  service: StateService,
  agentIds: readonly number[],
  { percent, untilMs }: { readonly percent: number; readonly untilMs: number },
): Promise<boolean> {
  const poll = async (): Promise<boolean> => {
    const progress = await readEffectiveRevisions(service.store.queries, agentIds)
    const agents = progress.filter(({ state }) => state === agentStates.Running)
    const done = agents.filter((agent) => agent.effectiveRevision === agent.desiredRevision)
    return done.length >= (agents.length * percent) / 100
  }
  return waitUntil(service, poll, untilMs)
}

async function waitUntil(
  service: StateService,
  isDone: () => Promise<boolean>,
  untilMs: number,
  countMissing?: () => number,
): Promise<boolean> {
  const poll = async () => (await isDone()) || undefined
  const done = await watchAgents(service, poll, untilMs, countMissing && { countMissing })
  return done ?? false
}
