/**
 * What a placement pass made of places, written at its end: who leaves an agent to which another comes serves there until
 * that one is loaded, so that the cache is never without VCL in between.
 */
import { holderId } from '../fleet/agent-index.js'
import { agentStates, type AgentState } from '../../resources/agent-state.js'
import { groupBy } from '../../group-by.js'
import type { HeldPlace } from '../fleet/placement-input.js'
import { placementAccount } from '../fleet/history-queries.js'
import {
  deletePlacements,
  savePlacements,
  type PlacementRecord,
} from '../fleet/placement-queries.js'
import { markReplaced, releaseReplaced, takeReplaced } from '../fleet/replaced-places.js'
import type { Queries } from '../store/store.js'
import { readGroups, type GroupRecord } from '../fleet/group-queries.js'
import { findSwitched, undeployPlaceless } from './replacing.js'

/** A group whose kept wish can be deployed. */
export interface ReadyGroup {
  readonly group: GroupRecord
  /** It is deployed with this pass. */
  readonly isTried: boolean
  /** The agents that it would come to. */
  readonly agentIds: readonly number[]
  /** Places that others leave to it. */
  readonly freed?: readonly HeldPlace[]
}

/** A place whose group leaves the agent. */
export interface GoingPlace extends PlacementRecord {
  /** Undefined: the agent is no more. */
  readonly agentState: AgentState | undefined
}

export interface SavedPass {
  /** As they were read, by `holderId`. */
  readonly before: ReadonlyMap<number, readonly PlacementRecord[]>
  /** As they are to be, without those that go. */
  readonly placements: Map<number, readonly PlacementRecord[]>
  readonly going: GoingPlace[]
  readonly ready: ReadyGroup[]
  /** Groups that are about to take places of others, since before this pass. */
  readonly takers: ReadonlySet<number>
}

/** Answers the agents whose places changed, and whether some are free again for a next pass. */
export async function savePass(
  queries: Queries,
  pass: SavedPass,
  now: number,
): Promise<{ readonly agentIds: readonly number[]; readonly released: boolean }> {
  const known = new Set([...pass.before.values()].flat())
  const changed = [...pass.placements.values()].flat().filter((place) => !known.has(place))
  const comers = findComers(changed)
  const gone: GoingPlace[] = []
  const replaced = new Map<number, HeldPlace[]>()
  for (const place of pass.going) {
    const { agentId } = place
    const held = { agentId, holder: holderId(place) }
    const comer = mayServeOn(place) ? comers.get(agentId) : undefined
    if (comer !== undefined) replaced.set(comer, [...(replaced.get(comer) ?? []), held])
    else if (!mayServeOn(place) || !leaveToReady(pass, held)) gone.push(place)
  }
  for (const places of groupBy(gone, holderId).values()) {
    const [first] = places
    const agentIds = places.map(({ agentId }) => agentId)
    if (first) await deletePlacements(queries, first, agentIds)
  }
  for (const [groupId, places] of replaced)
    await markReplaced(queries, groupId, places, { leaving: true })
  const left = await takePlaces(queries, pass, changed)
  await savePlacements(queries, changed)
  await undeployLeft(queries, left, now)
  const released = await releaseReplaced(queries)
  const touched = [...changed, ...pass.going].map(({ agentId }) => agentId)
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
function mayServeOn({ current, stage, agentState }: GoingPlace): boolean {
  const isThere = agentState === agentStates.Running || agentState === agentStates.Failing
  return current !== null && !stage && isThere
}

/** A kept wish is deployed next: the place goes with the switch of that deploy. */
function leaveToReady({ ready }: SavedPass, held: HeldPlace): boolean {
  const at = ready.findIndex(({ isTried, agentIds }) => isTried && agentIds.includes(held.agentId))
  const heir = ready[at]
  if (!heir) return false
  ready[at] = { ...heir, freed: [...(heir.freed ?? []), held] }
  return true
}

/** Where a late candidate switches, the places that it takes go with it. Answers who lost one, by who took it. */
async function takePlaces(
  queries: Queries,
  { takers }: SavedPass,
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
    await undeployPlaceless(queries, { ids, by: { id, name }, account: placementAccount, now })
  }
}
