/**
 * A deploy becomes a rollout: planned in the first phase of the deploy, begun at the deploy's decision in place of the switch,
 * failed if the deploy does not switch. Call all functions under the decision lock.
 */
import { rolloutStates, type RolloutPolicy } from '../../resources/rollout.js'
import { isSameLoad } from '../../vcl/desired-engine.js'
import { readNamedAgentTags } from '../fleet/agent-tags.js'
import type { DeployAction, DeployRecord } from '../fleet/deploy-queries.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import { findRevision } from '../fleet/history-queries.js'
import type { PlacementRecord } from '../fleet/placement-queries.js'
import {
  findRollout,
  insertRollout,
  writeRollout,
  type RolloutRecord,
  type WaveRecord,
} from '../fleet/rollout-queries.js'
import { programOf, type Release } from '../fleet/vcl-group.js'
import type { Queries } from '../store/store.js'
import { takeStep } from './carry-out.js'
import { divideIntoWaves } from './divide-waves.js'

interface ToRollOut {
  readonly group: GroupRecord
  readonly action: DeployAction
  readonly sources: Release
  /** The revision that the switch creates. */
  readonly revision: number
  /** The placements that will load the VCL. */
  readonly candidates: readonly PlacementRecord[]
  readonly account: string
  readonly traceId: string
  readonly now: number
}

const followingActions: readonly DeployAction[] = ['deploy', 'promote', 'rollback']

/**
 * Returns the id of the rollout that replaces the deploy's second phase; null: all agents switch at once, as in a first deploy, a
 * reload, a rollback to the VCL that served before, and a deploy that puts nothing new on any cache.
 */
export async function planRollout(
  queries: Queries,
  policy: RolloutPolicy | null,
  planned: ToRollOut,
): Promise<number | null> {
  const { group, action, revision, sources, candidates } = planned
  if (policy === null || group.console || !followingActions.includes(action)) return null
  if (revision === group.revision || group.revision === 0) return null
  const program = programOf(sources)
  const serving = candidates.filter(({ current }) => current !== null)
  if (serving.length === 0) return null
  if (action === 'rollback' && serving.every(({ previous }) => isSameLoad(previous, program)))
    return null
  const fromSources = await findServed(queries, group)
  if (fromSources === undefined) return null
  const { account, traceId, now } = planned
  return insertRollout(queries, {
    groupId: group.id,
    groupName: group.name,
    organizationId: group.organizationId,
    revision,
    fromRevision: group.revision,
    action,
    state: rolloutStates.Loading,
    wave: 0,
    waves: await planWaves(queries, group.id, policy, candidates),
    gates: [],
    policy,
    sources,
    fromSources,
    account,
    traceId,
    startedAt: now,
    isAborted: false,
    bakedSeconds: 0,
  })
}

/** The release that the caches serve; while a deploy is pending, that is not the desired release. */
async function findServed(
  queries: Queries,
  { id, revision, desiredRelease, deployPending }: GroupRecord,
): Promise<Release | undefined> {
  if (!deployPending) return desiredRelease ?? undefined
  return (await findRevision(queries, id, revision))?.sources
}

async function planWaves(
  queries: Queries,
  groupId: number,
  policy: RolloutPolicy,
  candidates: readonly PlacementRecord[],
): Promise<readonly WaveRecord[]> {
  const agents = await readNamedAgentTags(
    queries,
    candidates.map(({ agentId }) => agentId),
  )
  const isNew = new Map(candidates.map(({ agentId, current }) => [agentId, current === null]))
  const waves = divideIntoWaves(
    policy.waves,
    groupId,
    agents.map(({ id, tagIds }) => ({ id, tagIds, isNew: isNew.get(id) ?? true })),
  )
  const names = new Map(agents.map(({ id, name }) => [id, name]))
  return waves.map(({ agentIds, holds }) => ({
    agents: agentIds.map((id) => ({
      id,
      name: names.get(id) ?? '',
      state: 'waiting' as const,
      error: null,
    })),
    holds,
    startedAt: null,
    switchedAt: null,
    endedAt: null,
    verdict: null,
  }))
}

/** Plans the waves again, because agents may have joined or left meanwhile. Returns the agents whose desired state changed. */
export async function beginRollout(
  queries: Queries,
  id: number,
  placements: readonly PlacementRecord[],
  now: number,
): Promise<readonly number[]> {
  const planned = await requireRollout(queries, id)
  const candidates = placements.filter(({ candidate }) => candidate !== null)
  const waves = await planWaves(queries, planned.groupId, planned.policy, candidates)
  const begun = await takeStep(queries, { ...planned, waves }, { do: 'begin' }, now)
  return begun.agentIds
}

/** Called when nothing was switched. */
export async function failRollout(
  queries: Queries,
  id: number,
  reason: string,
  now: number,
): Promise<void> {
  const planned = await requireRollout(queries, id)
  const failed = { ...planned, state: rolloutStates.Failed, endedAt: now, reason }
  await writeRollout(queries, failed)
}

async function requireRollout(queries: Queries, id: number): Promise<RolloutRecord> {
  const rollout = await findRollout(queries, { kind: 'all' }, id)
  if (!rollout) throw new Error(`rollout ${id} is gone`)
  return rollout
}

export function isRollout<Deploy extends Pick<DeployRecord, 'rolloutId'>>(
  deploy: Deploy,
): deploy is Deploy & { readonly rolloutId: number } {
  return deploy.rolloutId !== null
}
