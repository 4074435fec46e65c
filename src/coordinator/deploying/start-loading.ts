/**
 * Saves what `begin.ts` has decided: the deploy's row and its candidates, which begins phase one. If every chosen agent holds the
 * VCL already, as in most rollbacks, there is nothing to load, and the agents switch in the same transaction.
 */
import type { RolloutPolicy } from '../../resources/rollout.js'
import { runInSteps } from '../../in-steps.js'
import { insertDeploy, type DeployRecord } from '../fleet/deploy-queries.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import { savePlacements, type PlacementRecord } from '../fleet/placement-queries.js'
import { markReplaced } from '../fleet/replaced-placements.js'
import type { Release } from '../fleet/vcl-group.js'
import { findUnasked, toCandidates, type PlacedDecision } from '../placement/candidates.js'
import { planRollout } from '../rollouts/begin-rollout.js'
import { leaseMs } from '../store/leases.js'
import type { Queries } from '../store/store.js'
import type { Asked } from './begin.js'
import { switchAtOnce, type UnsavedDeploy } from './decide.js'
import { markLeaving } from './stage.js'

export interface Plan extends PlacedDecision {
  readonly sources: Release
  readonly revision: number
}

/** `agentIds`: agents whose desired state changed. */
export type Begun =
  | {
      readonly kind: 'loading'
      readonly deploy: DeployRecord
      readonly agentIds: readonly number[]
    }
  | {
      readonly kind: 'switched'
      readonly deploy: UnsavedDeploy
      readonly agentIds: readonly number[]
    }

export async function startLoading(
  queries: Queries,
  asked: Omit<Asked, 'gathered'>,
  plan: Plan,
  run: Pick<DeployRecord, 'traceId' | 'owner'>,
): Promise<Begun> {
  const { group, action, actor, freed = [], now, replace, rollout = group.rollout } = asked
  const { id: groupId, organizationId } = group
  const { sources, revision, placements, decision } = plan
  const made = { groupId, organizationId, action, revision, sources }
  const account = actor.accountName
  const begun = { ...made, ...run, account, startedAt: now, epoch: 1 }
  const candidates = await runInSteps(toCandidates(begun, plan))
  const policy = replace ? null : (rollout as RolloutPolicy | null) // completed where it was written
  const rolloutId = await planRollout(queries, policy, { ...begun, group, candidates, now })
  const deploy = { ...begun, rolloutId }
  const holder = { groupId, stage: action === 'stage' }
  const chosen = new Set(candidates.map(({ agentId }) => agentId))
  const leaving = freed.filter(({ agentId }) => chosen.has(agentId))
  const takesPlaces = decision.replaced.length > 0 || leaving.length > 0 || action === 'promote'
  if (rolloutId === null && !takesPlaces && candidates.every(isLoaded)) {
    const others = placements.filter(({ agentId }) => !chosen.has(agentId))
    const decided = { deploy, group, placements: [...candidates, ...others], before: placements }
    return { kind: 'switched', deploy, agentIds: await switchAtOnce(queries, decided, now) }
  }
  const id = await insertDeploy(queries, deploy, now + leaseMs)
  if (action === 'promote') await markLeaving(queries, groupId, candidates)
  await markReplaced(queries, groupId, decision.replaced)
  await markReplaced(queries, groupId, leaving, { leaving: true })
  await savePlacements(queries, candidates, placements)
  const anew = findUnasked(placements, candidates)
  const known = { ...holder, placements: candidates }
  const agentIds = await recomposeDesired(queries, [...chosen], { anew, known })
  return { kind: 'loading', deploy: { ...deploy, id }, agentIds }
}

function isLoaded({ candidateState }: PlacementRecord): boolean {
  return candidateState === 'loaded'
}
