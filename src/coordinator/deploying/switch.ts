/** Waits for phase two: until enough agents serve the new VCL or have removed the old one. False: time ran out before. */
import { agentStates } from '../../resources/agent-state.js'
import { watchAgents } from '../agents/watch-agents.js'
import type { PlacementHolder } from '../fleet/agent-index.js'
import { readEffectiveRevisions } from '../fleet/effective-revisions.js'
import { countGroupPlacements, type PlacementCount } from '../fleet/group-placements.js'
import { readPlacements } from '../fleet/placement-queries.js'
import type { PlacementState } from '../fleet/vcl-group.js'
import type { StateService } from '../service.js'

interface SwitchInput {
  /** All placements of the group. `away`: the agent is not Running; it switches when it is again. */
  readonly places: readonly { readonly state: PlacementState | 'away' }[]
  /** 0 to 100: the share of the placements that must have applied before the caller gets its response. */
  readonly percent: number
}

/**
 * Returns how many placements must still apply or fail: 0 if enough have applied, or if all that are not away have settled.
 */
export function countUnswitched({ places, percent }: SwitchInput): number {
  const applied = places.filter(({ state }) => state === 'applied').length
  const there = places.filter(({ state }) => state !== 'away')
  const unsettled = there.filter(({ state }) => state !== 'applied' && state !== 'failed').length
  const wanted = Math.max(0, Math.ceil((percent * places.length) / 100) - applied)
  const isAnybodyThere = there.length > 0 || places.length === 0
  return isAnybodyThere ? Math.min(unsettled, wanted) : wanted
}

/** Limits the wait for an agent that neither applies nor fails; the agent converges when it can. */
const longestWaitMs = 600_000

/** Waits until the wanted share of the placements has applied, or every Running agent has applied or failed. */
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

/** Waits until the agents that the group, or its stage, has left have applied their desired state. */
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

/** Waits until the wanted share of the Running agents has applied its desired state, which no longer contains the group. */
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
