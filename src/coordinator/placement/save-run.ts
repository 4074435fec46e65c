/**
 * Writes the placements at the end of a reconcile run. A group that leaves an agent serves there until the VCL of a group that
 * comes there is loaded, so that the cache is never without VCL in between.
 */
import { holderId } from '../fleet/agent-index.js'
import { agentStates, type AgentState } from '../../resources/agent-state.js'
import { groupBy } from '../../group-by.js'
import type { HeldPlacement } from '../fleet/placement-input.js'
import { placementAccount } from '../fleet/history-queries.js'
import {
  deletePlacements,
  savePlacements,
  type PlacementRecord,
} from '../fleet/placement-queries.js'
import { markReplaced, releaseReplaced, takeReplaced } from '../fleet/replaced-placements.js'
import type { Queries } from '../store/store.js'
import { readGroups, type GroupRecord } from '../fleet/group-queries.js'
import { findSwitched, undeployUnplaced } from './replacing.js'

/** A group whose pending deploy can run. */
export interface ReadyGroup {
  readonly group: GroupRecord
  /** The pending deploy is tried with this run. */
  readonly isTried: boolean
  /** The agents that it would be added to. */
  readonly agentIds: readonly number[]
  /** Placements that other groups leave to it. */
  readonly freed?: readonly HeldPlacement[]
}

/** A placement whose group leaves the agent. */
export interface LeavingPlacement extends PlacementRecord {
  /** Undefined: the agent was deleted. */
  readonly agentState: AgentState | undefined
}

export interface RunOutcome {
  /** The placements as they were read, by `holderId`. */
  readonly before: ReadonlyMap<number, readonly PlacementRecord[]>
  /** The placements as decided, without `going`. */
  readonly placements: Map<number, readonly PlacementRecord[]>
  readonly going: LeavingPlacement[]
  readonly ready: ReadyGroup[]
  /** Groups that were already about to take over placements before this run. */
  readonly takers: ReadonlySet<number>
}

/** Returns the agents whose placements changed, and whether some placements were released, so that another run is needed. */
export async function saveRun(
  queries: Queries,
  run: RunOutcome,
  now: number,
): Promise<{ readonly agentIds: readonly number[]; readonly released: boolean }> {
  const known = new Set([...run.before.values()].flat())
  const changed = [...run.placements.values()].flat().filter((place) => !known.has(place))
  const comers = findComers(changed)
  const gone: LeavingPlacement[] = []
  const replaced = new Map<number, HeldPlacement[]>()
  for (const place of run.going) {
    const { agentId } = place
    const held = { agentId, holder: holderId(place) }
    const comer = mayServeOn(place) ? comers.get(agentId) : undefined
    if (comer !== undefined) replaced.set(comer, [...(replaced.get(comer) ?? []), held])
    else if (!mayServeOn(place) || !leaveToReady(run, held)) gone.push(place)
  }
  for (const places of groupBy(gone, holderId).values()) {
    const [first] = places
    const agentIds = places.map(({ agentId }) => agentId)
    if (first) await deletePlacements(queries, first, agentIds)
  }
  for (const [groupId, places] of replaced)
    await markReplaced(queries, groupId, places, { leaving: true })
  const left = await takeOverPlacements(queries, run, changed)
  await savePlacements(queries, changed, [...known])
  await undeployLeft(queries, left, now)
  const released = await releaseReplaced(queries)
  const touched = [...changed, ...run.going].map(({ agentId }) => agentId)
  return { agentIds: [...new Set([...touched, ...released])], released: released.length > 0 }
}

/** By agent: a group whose VCL is about to be loaded there for the first time. */
function findComers(changed: readonly PlacementRecord[]): ReadonlyMap<number, number> {
  const coming = changed.filter(
    ({ stage, current, candidate }) => !stage && current === null && candidate !== null,
  )
  return new Map(coming.map(({ agentId, groupId }) => [agentId, groupId]))
}

/** Whether the group may keep serving until another is loaded: not on an agent that cannot be reached. */
function mayServeOn({ current, stage, agentState }: LeavingPlacement): boolean {
  const isThere = agentState === agentStates.Running || agentState === agentStates.Failing
  return current !== null && !stage && isThere
}

/** Leaves the placement to a group whose pending deploy runs next: it ends with the switch of that deploy. */
function leaveToReady({ ready }: RunOutcome, held: HeldPlacement): boolean {
  const at = ready.findIndex(({ isTried, agentIds }) => isTried && agentIds.includes(held.agentId))
  const heir = ready[at]
  if (!heir) return false
  ready[at] = { ...heir, freed: [...(heir.freed ?? []), held] }
  return true
}

/** A late candidate that switches takes over its placements. Returns the groups that lost one, by the group that took it. */
async function takeOverPlacements(
  queries: Queries,
  { takers }: RunOutcome,
  changed: readonly PlacementRecord[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  const taking = changed.filter(({ stage, groupId }) => !stage && takers.has(groupId))
  const left = new Map<number, readonly number[]>()
  for (const [groupId, places] of groupBy(taking, (place) => place.groupId))
    left.set(groupId, await takeReplaced(queries, groupId, findSwitched(places)))
  return left
}

async function undeployLeft(
  queries: Queries,
  left: ReadonlyMap<number, readonly number[]>,
  now: number,
): Promise<void> {
  for (const [groupId, ids] of left) {
    if (ids.length === 0) continue
    const [by] = await readGroups(queries, { kind: 'all' }, { ids: [groupId] })
    if (by === undefined) continue
    const { id, name } = by
    await undeployUnplaced(queries, { ids, by: { id, name }, account: placementAccount, now })
  }
}
