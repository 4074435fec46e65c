/**
 * What a reconcile run made of placements, written at its end: who leaves an agent to which another comes serves there until
 * that one is loaded, so that the cache is never without VCL in between.
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
  /** It is deployed with this run. */
  readonly isTried: boolean
  /** The agents that it would come to. */
  readonly agentIds: readonly number[]
  /** Places that others leave to it. */
  readonly freed?: readonly HeldPlacement[]
}

/** A place whose group leaves the agent. */
export interface LeavingPlacement extends PlacementRecord {
  /** Undefined: the agent is no more. */
  readonly agentState: AgentState | undefined
}

export interface RunOutcome {
  /** As they were read, by `holderId`. */
  readonly before: ReadonlyMap<number, readonly PlacementRecord[]>
  /** As they are to be, without those that go. */
  readonly placements: Map<number, readonly PlacementRecord[]>
  readonly going: LeavingPlacement[]
  readonly ready: ReadyGroup[]
  /** Groups that are about to take places of others, since before this run. */
  readonly takers: ReadonlySet<number>
}

/** Answers the agents whose places changed, and whether some are free again for a next run. */
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
  await savePlacements(queries, changed)
  await undeployLeft(queries, left, now)
  const released = await releaseReplaced(queries)
  const touched = [...changed, ...run.going].map(({ agentId }) => agentId)
  return { agentIds: [...new Set([...touched, ...released])], released: released.length > 0 }
}

/** By agent, a group that is about to be loaded there for the first time. */
function findComers(changed: readonly PlacementRecord[]): ReadonlyMap<number, number> {
  const coming = changed.filter(
    ({ stage, current, candidate }) => !stage && current === null && candidate !== null,
  )
  return new Map(coming.map(({ agentId, groupId }) => [agentId, groupId]))
}

/** Where the agent cannot be reached nobody serves longer for it. */
function mayServeOn({ current, stage, agentState }: LeavingPlacement): boolean {
  const isThere = agentState === agentStates.Running || agentState === agentStates.Failing
  return current !== null && !stage && isThere
}

/** Its pending deploy runs next: the placement goes with the switch of that deploy. */
function leaveToReady({ ready }: RunOutcome, held: HeldPlacement): boolean {
  const at = ready.findIndex(({ isTried, agentIds }) => isTried && agentIds.includes(held.agentId))
  const heir = ready[at]
  if (!heir) return false
  ready[at] = { ...heir, freed: [...(heir.freed ?? []), held] }
  return true
}

/** Where a late candidate switches, the places that it takes go with it. Answers who lost one, by who took it. */
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
