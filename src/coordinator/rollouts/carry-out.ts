/**
 * Carries out the steps of a rollout. Its row and the placements that change with it are written together under the decision lock,
 * so that the decision is on disk before any agent is notified.
 */
import type { Context } from '../../context.js'
import { rolloutStates } from '../../resources/rollout.js'
import { notifyDesiredChanged } from '../agents/agent-hints.js'
import { rolloutsChangedSubject } from '../bus/subjects.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import { findGroup, writeDesiredRelease } from '../fleet/group-queries.js'
import { promoteStage } from '../fleet/end-stage.js'
import { addHistory, type GroupAction } from '../fleet/history-queries.js'
import {
  deletePlacements,
  readPlacements,
  savePlacements,
  type PlacementRecord,
} from '../fleet/placement-queries.js'
import { releaseReplaced } from '../fleet/replaced-placements.js'
import {
  findRollout,
  movesTarget,
  writeRevisionOfPlaces,
  writeRollout,
  type RolloutRecord,
} from '../fleet/rollout-queries.js'
import { readAgentStates } from '../fleet/state-queries.js'
import { banGroup } from '../invalidations/ban-group.js'
import { notifyInvalidationsLogged } from '../invalidations/invalidation-hints.js'
import type { StateService } from '../service.js'
import type { Queries } from '../store/store.js'
import { addProgress } from './find-progress.js'
import { goBack, joinNewcomers, loadNewcomers, switchWave } from './move-places.js'
import { moveOn, type CourseStep } from './rollout-course.js'
import { readSeenPlaces } from './seen-places.js'

interface CarriedOut {
  readonly rollout: RolloutRecord
  /** Agents whose desired state changed. */
  readonly agentIds: readonly number[]
}

interface Chosen {
  readonly step: CourseStep
  /** What the step is based on, written together with it. */
  readonly seen?: Partial<Pick<RolloutRecord, 'gates' | 'bakedSeconds' | 'waves'>>
}

/** Returns undefined if another decision was made since the rollout was read, or if `choose` finds nothing to do. */
export async function carryOut(
  service: StateService,
  context: Context,
  id: number,
  choose: (rollout: RolloutRecord) => Chosen | undefined,
): Promise<RolloutRecord | undefined> {
  const done = await service.store.decide(async (queries) => {
    const rollout = await findRollout(queries, { kind: 'all' }, id)
    const chosen = rollout && choose(rollout)
    if (!chosen) return undefined
    const taken = await takeStep(
      queries,
      { ...rollout, ...chosen.seen },
      chosen.step,
      service.now(),
    )
    return { ...taken, hasBanned: chosen.step.do === 'ban' }
  })
  if (!done) return undefined
  const { rollout, agentIds, hasBanned } = done
  notifyDesiredChanged(service, agentIds, rollout.traceId)
  if (hasBanned) notifyInvalidationsLogged(service)
  service.bus.publish(rolloutsChangedSubject, { ids: [id] })
  const { groupId: group, state, wave, reason } = rollout
  context.log.info({ rollout: id, group, state, wave, agents: agentIds.length, reason }, 'rollout')
  return rollout
}

/** Call under the decision lock. */
export async function takeStep(
  queries: Queries,
  before: RolloutRecord,
  step: CourseStep,
  now: number,
): Promise<CarriedOut> {
  const isReturn = step.do === 'rollBack'
  const moved = moveOn(isReturn ? await addNewcomers(queries, before) : before, step, now)
  const agentIds = await movePlaces(queries, moved, step, now)
  const rollout = await readProgress(queries, moved)
  if (!(await writeRollout(queries, rollout))) throw new Error(`rollout ${rollout.id} was changed`)
  if (rollout.state >= rolloutStates.Succeeded) await noteEnd(queries, rollout, now)
  return { rollout: { ...rollout, epoch: rollout.epoch + 1 }, agentIds }
}

async function addNewcomers(queries: Queries, rollout: RolloutRecord): Promise<RolloutRecord> {
  const places = await readSeenPlaces(queries, rollout.groupId)
  return joinNewcomers(rollout, [...places.values()])
}

/** Returns the agents whose desired state changed. */
async function movePlaces(
  queries: Queries,
  rollout: RolloutRecord,
  step: CourseStep,
  now: number,
): Promise<readonly number[]> {
  if (step.do === 'begin' || step.do === 'next') return beginWave(queries, rollout, now)
  if (step.do === 'rollBack') return returnAll(queries, rollout)
  if (step.do === 'ban') await banReturned(queries, rollout, step.agentIds, now)
  return []
}

async function beginWave(
  queries: Queries,
  rollout: RolloutRecord,
  now: number,
): Promise<readonly number[]> {
  const { groupId, wave, waves, revision, sources } = rollout
  const placements = await readPlacements(queries, { groupIds: [groupId], stage: false })
  const states = await readAgentStates(queries, groupId)
  const agentIds = new Set(waves[wave - 1]?.agents.map(({ id }) => id))
  const switching = switchWave(placements, {
    agentIds,
    revision,
    stateOf: (agentId) => states.get(agentId)?.state,
  })
  if (wave < waves.length) {
    await savePlacements(queries, switching, placements)
    return recomposeDesired(queries, switching.map(toAgentId))
  }
  const others = findOthers(placements, rollout)
  // No agent joins a rollout that moves its target; agents outside the new target leave, as in a deploy that switches at once.
  const isMoved = movesTarget(rollout)
  const coming = isMoved ? [] : loadNewcomers(others, rollout)
  const leaving = isMoved ? others.map(toAgentId) : []
  const freed = await writeDesired(queries, rollout, sources, now)
  await savePlacements(queries, [...switching, ...coming], placements)
  await deletePlacements(queries, { groupId, stage: false }, leaving)
  const touched = [...[...switching, ...coming].map(toAgentId), ...leaving, ...freed]
  return recomposeDesired(queries, [...new Set(touched)])
}

function toAgentId({ agentId }: PlacementRecord): number {
  return agentId
}

/** Returns the placements of agents that are in none of its waves. */
function findOthers(
  placements: readonly PlacementRecord[],
  { waves }: RolloutRecord,
): readonly PlacementRecord[] {
  const known = new Set(waves.flatMap(({ agents }) => agents.map(({ id }) => id)))
  return placements.filter(({ agentId, replacedBy }) => !known.has(agentId) && replacedBy === null)
}

async function returnAll(queries: Queries, rollout: RolloutRecord): Promise<readonly number[]> {
  const { groupId, wave, waves, fromSources } = rollout
  const placements = await readPlacements(queries, { groupIds: [groupId], stage: false })
  const { save, leave } = goBack(placements, rollout)
  if (wave === waves.length) await writeDesired(queries, rollout, fromSources)
  await savePlacements(queries, save, placements)
  await deletePlacements(queries, { groupId, stage: false }, leave)
  // If it will no longer be loaded there, the other groups keep their placements.
  await releaseReplaced(queries)
  return recomposeDesired(queries, [...save.map(toAgentId), ...leave])
}

async function banReturned(
  queries: Queries,
  { groupId: id, groupName: name, organizationId, account, traceId }: RolloutRecord,
  agentIds: readonly number[],
  now: number,
): Promise<void> {
  const group = { id, name, organizationId }
  await banGroup(queries, { group, agentIds, account, traceId, now })
}

/**
 * The group keeps its earlier revision until the rollout has succeeded. The last wave of a promote ends the stage: returns the
 * agents that the stage was on.
 */
async function writeDesired(
  queries: Queries,
  { groupId, action }: RolloutRecord,
  sources: RolloutRecord['sources'],
  promotedAt: number | null = null,
): Promise<readonly number[]> {
  const group = await findGroup(queries, { kind: 'all' }, groupId)
  if (!group) throw new Error(`group ${groupId} was deleted during its rollout`)
  const { revision } = group
  await writeDesiredRelease(queries, groupId, { sources, pending: false, revision })
  if (action !== 'promote' || promotedAt === null) return []
  return promoteStage(queries, group, promotedAt)
}

/** Its waves record how far each agent was at the last write. */
async function readProgress(queries: Queries, rollout: RolloutRecord): Promise<RolloutRecord> {
  return addProgress(rollout, await readSeenPlaces(queries, rollout.groupId))
}

function describeReturn({ isAborted, reason }: RolloutRecord): string {
  return isAborted ? (reason ?? 'aborted') : `rolled back: ${reason ?? 'a gate failed'}`
}

async function noteEnd(queries: Queries, rollout: RolloutRecord, now: number): Promise<void> {
  const { groupId, organizationId, account, sources, revision, action } = rollout
  const hasSucceeded = rollout.state === rolloutStates.Succeeded
  if (hasSucceeded) {
    await writeDesiredRelease(queries, groupId, { sources, pending: false, revision })
    await writeRevisionOfPlaces(queries, groupId, { sha: sources.sha, revision })
  }
  await addHistory(queries, {
    groupId,
    organizationId,
    revision: hasSucceeded ? revision : null,
    at: now,
    account,
    action: action as GroupAction, // written by a deploy
    result: hasSucceeded ? 'ok' : describeReturn(rollout),
    sources,
  })
}
