/**
 * Reconciles the placements of deployed groups and stages as soon as tags, min, max or agents change (docs/behaviour.md,
 * Placement). One run handles a whole batch of arriving agents: all groups are decided together under the decision lock.
 */
import { runInSteps } from '../../in-steps.js'
import {
  holderId,
  indexAgents,
  indexInSteps,
  recordPlacement,
  type AgentIndex,
  type PlacementHolder,
} from '../fleet/agent-index.js'
import { agentStates } from '../../resources/agent-state.js'
import { groupBy } from '../../group-by.js'
import type { LossJudgement } from './mass-loss.js'
import { readLoss } from './read-loss.js'
import { fullReason, type PlacementDecision } from './placement.js'
import { stageDeployment } from '../fleet/stage.js'
import { programOf, type Release } from '../fleet/vcl-group.js'
import { endPlacementWaits, forgetRestarts } from '../fleet/condition-queries.js'
import { readDeploymentsInForce, type AskedOfGroups } from '../fleet/target-queries.js'
import { endDrains } from '../fleet/drain-queries.js'
import { readDeploys } from '../fleet/deploy-queries.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import { isUsableBy, readFleet, type FleetAgent } from '../fleet/fleet.js'
import type { Lease } from '../store/lease-queries.js'
import { isFitting } from '../fleet/placement-target.js'
import { findHeld, movesTarget, readRunningRollouts } from '../fleet/rollout-queries.js'
import { readPlacements, type PlacementRecord } from '../fleet/placement-queries.js'
import { readBeingReplaced } from '../fleet/replaced-placements.js'
import { readStages, type StageRecord } from '../fleet/stage-queries.js'
import type { Queries } from '../store/store.js'
import { readGroups, type GroupRecord } from '../fleet/group-queries.js'
import { requireLease } from '../store/leases.js'
import { saveRun, type LeavingPlacement, type ReadyGroup, type RunOutcome } from './save-run.js'
import { findGivenUp, settlePlacement } from './placement-settling.js'
import { createPlacement, decideFollowing, type PlacingInput } from './placing.js'
import type { StateService } from '../service.js'

/** Caches its verdicts: placement needs them for the same texts again and again. */
export interface TextJudge {
  /** Whether the deployed release may be placed on further agents. */
  isTaken(
    queries: Queries,
    owner: { readonly organizationId: number | null },
    release: Release,
  ): Promise<boolean>
}

interface FollowedPlacements {
  /** Agents whose desired state changed or must be sent now. */
  readonly agentIds: readonly number[]
  /** Groups whose pending deploy can run now: enough agents are available. */
  readonly ready: readonly ReadyGroup[]
  /** Agents whose drain ended at its `until` time. */
  readonly undrained: readonly number[]
  /** When to run again; null: not needed. */
  readonly againAt: number | null
}

export interface ReconcileOptions {
  /** No placement leaves a Down agent before this time. */
  readonly graceUntil: number
  readonly judge: TextJudge
  /** The lease of the task `placement`: a run writes nothing once another process has taken it. */
  readonly lease: Lease
  /** Whether a pending deploy that can run is due. */
  readonly isDue: (group: GroupRecord) => boolean
}

export function followPlacements(
  service: StateService,
  { graceUntil, lease, judge, isDue }: ReconcileOptions,
): Promise<FollowedPlacements> {
  return service.store.decide(async (queries) => {
    await requireLease(queries, lease)
    const drains = await endDrains(queries, service.now())
    const run = await beginRun(service, queries, { graceUntil, judge, isDue })
    for (const group of run.groups) await followGroup(queries, run, group)
    // After all groups: stages take no agent from them.
    for (const stage of run.stages) await follow(queries, run, reconcilableStage(stage))
    await offerFreed(queries, run)
    const { agentIds, released } = await saveRun(queries, run, service.now())
    await forgetRestarts(queries, [...run.restarted])
    const waited = await endPlacementWaits(queries, findAwaited(run))
    const composed = await recomposeDesired(queries, agentIds)
    return {
      agentIds: [...new Set([...composed, ...waited])],
      ready: run.ready,
      undrained: drains.ended,
      againAt: released ? service.now() : findEarlier(run.loss.againAt, drains.nextAt),
    }
  })
}

/** Null: never. */
function findEarlier(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other)
}

/** Decides groups again that were decided before another group left an agent that they may use. */
async function offerFreed(queries: Queries, run: ReconcileRun): Promise<void> {
  if (run.going.length === 0) return
  const freed = run.going.map(({ agentId }) => agentId)
  for (const group of run.groups) {
    const followed = reconcilableGroup(run, group)
    const agents = followed && agentsOf(run, followed)
    const mayCome = freed.some((agentId) => {
      const agent = agents?.byId.get(agentId)
      return (
        agent !== undefined &&
        !agent.groupIds.has(group.id) &&
        followed?.deployments.some(({ target }) => isFitting(agent, target)) === true
      )
    })
    if (mayCome) await followGroup(queries, run, group)
  }
}

async function followGroup(queries: Queries, run: ReconcileRun, group: GroupRecord): Promise<void> {
  const followed = reconcilableGroup(run, group)
  const decision = followed && (await follow(queries, run, followed))
  if (!decision || run.ready.some((one) => one.group.id === group.id)) return
  const isTried = run.isDue(group)
  run.ready.push({ group, isTried, agentIds: decision.add.map(({ agentId }) => agentId) })
}

/** Agents that a pending deploy is about to use: nothing is sent to them before it runs. */
function findAwaited({ ready }: ReconcileRun): ReadonlySet<number> {
  return new Set(ready.filter(({ isTried }) => isTried).flatMap(({ agentIds }) => agentIds))
}

interface ReconcileRun extends RunOutcome {
  readonly groups: readonly GroupRecord[]
  readonly stages: readonly StageRecord[]
  readonly deployments: AskedOfGroups
  /** By the groups' owners; updated after each decision, so that no two groups choose an agent unaware of each other. */
  readonly agents: ReadonlyMap<number | null, AgentIndex>
  /** Running agents whose cache restarted: VCLs that failed there are tried again (docs/behaviour.md, Deploy). */
  readonly restarted: ReadonlySet<number>
  /** By group, agents whose candidate waits for its wave of a rollout. */
  readonly held: ReadonlyMap<number, ReadonlySet<number>>
  readonly loss: LossJudgement
  /** Agents whose placements are not given to others in this run, whatever the group. */
  readonly keepDown: ReadonlySet<number>
  readonly judge: TextJudge
  readonly isDue: ReconcileOptions['isDue']
}

/** A deployed group or a stage, as a run reconciles it. */
export interface Reconcilable extends PlacementHolder {
  readonly organizationId: number | null
  readonly revision: number
  readonly keepOnFailure: boolean
  readonly release: Release
  readonly deployPending: boolean
  readonly deployments: PlacingInput['deployments']
}

async function beginRun(
  service: StateService,
  queries: Queries,
  { graceUntil, judge, isDue }: Pick<ReconcileOptions, 'graceUntil' | 'judge' | 'isDue'>,
): Promise<ReconcileRun> {
  const deploys = await readDeploys(queries)
  const rollouts = await readRunningRollouts(queries)
  const busy = new Set([
    ...deploys.map((deploy) => deploy.groupId),
    ...rollouts.filter(movesTarget).map(({ groupId }) => groupId),
    ...(deploys.length > 0 ? await readBeingReplaced(queries) : []),
  ])
  const groups = (await readGroups(queries, { kind: 'all' }, { deployed: true })).filter(
    (group) => !busy.has(group.id),
  )
  const stages = (await readStages(queries)).filter(({ groupId }) => !busy.has(groupId))
  const groupIds = [
    ...new Set([...groups.map(({ id }) => id), ...stages.map((one) => one.groupId)]),
  ]
  // If nothing is deployed, the fleet is not read.
  const isIdle = groupIds.length === 0
  const before = groupBy(isIdle ? [] : await readPlacements(queries, { groupIds }), holderId)
  const fleet = isIdle ? [] : await readFleet(queries, { kind: 'all' })
  const loss = await readLoss(service, queries, { fleet, graceUntil })
  return {
    groups,
    stages,
    before,
    placements: new Map(before),
    going: [],
    ready: [],
    judge,
    isDue,
    held: new Map(rollouts.map((rollout) => [rollout.groupId, findHeld(rollout)])),
    takers: new Set(fleet.flatMap(({ replacedBy }) => [...(replacedBy?.values() ?? [])])),
    deployments: await readDeploymentsInForce(queries, groups),
    agents: await indexByOwner([...groups, ...stages], fleet),
    restarted: findRestarted(fleet),
    loss,
    keepDown: new Set([...loss.lost, ...loss.settling]),
  }
}

const noAgents: ReadonlySet<number> = new Set()

export function reconcilableGroup(
  run: Pick<ReconcileRun, 'deployments'>,
  group: GroupRecord,
): Reconcilable | undefined {
  const { desiredRelease } = group
  return desiredRelease === null
    ? undefined
    : {
        ...group,
        groupId: group.id,
        stage: false,
        release: desiredRelease,
        deployments: run.deployments.get(group.id) ?? [],
      }
}

export function reconcilableStage(stage: StageRecord): Reconcilable {
  const { tagIds } = stage.sources.stage
  return {
    ...stage,
    stage: true,
    release: stage.sources,
    deployPending: false,
    keepOnFailure: true,
    deployments: [stageDeployment(tagIds)],
  }
}

/** Returns the decision for a pending deploy that can run now. Without a pending deploy, updates the placements that the run saves. */
async function follow(
  queries: Queries,
  run: ReconcileRun,
  followed: Reconcilable,
): Promise<PlacementDecision | undefined> {
  const { groupId, stage, organizationId, release } = followed
  const program = programOf(release)
  const holder = holderId(followed)
  const agents = agentsOf(run, followed)
  const settled = (run.placements.get(holder) ?? []).map((placement) => {
    // Another group is taking over this placement.
    if (placement.replacedBy !== null) return placement
    const state = agents.byId.get(placement.agentId)?.state
    const isRestarted = run.restarted.has(placement.agentId)
    const isLost = run.loss.lost.has(placement.agentId)
    const isHeld = !stage && run.held.get(groupId)?.has(placement.agentId) === true
    const how = { state, isRestarted, isLost, isHeld }
    return settlePlacement(placement, { group: followed, program, ...how })
  })
  const exclude = findGivenUp(settled, run.restarted)
  const input: PlacingInput = {
    group: {
      id: groupId,
      domains: release.domains,
      releases: release.releases,
      stage: release.stage,
    },
    deployments: followed.deployments,
    agents,
    placements: settled,
    exclude,
    wanted: program,
    // A pending deploy, which waits for agents, does not count Down ones.
    keepDown: followed.deployPending ? noAgents : keepPlacements(run, settled),
  }
  let decision = await decideFollowing(queries, input)
  if (followed.deployPending) return decision.shortages.length === 0 ? decision : undefined
  if (decision.add.length > 0 && !(await run.judge.isTaken(queries, followed, release)))
    decision = await decideFollowing(queries, { ...input, exclude: addNewcomers(input, exclude) })
  const remove = findLeaving(decision, settled, agents)
  const leave = new Set(remove.map(({ agentId }) => agentId))
  const group = { id: groupId, organizationId }
  const added = decision.add.map((place) =>
    createPlacement({ ...place, group, stage, revision: followed.revision, program }),
  )
  const placed = { id: holder, root: program.fqdns === null, fqdns: program.fqdns ?? [] }
  for (const index of run.agents.values())
    recordPlacement(index, placed, { add: decision.add, remove })
  const kept = settled.filter(({ agentId }) => !leave.has(agentId))
  run.placements.set(holder, [...kept, ...added])
  run.going.push(...settled.filter((place) => leave.has(place.agentId)).map(withState))
  return undefined

  function withState(place: PlacementRecord): LeavingPlacement {
    return { ...place, agentState: agents.byId.get(place.agentId)?.state }
  }
}

/** An agent that fills in for another stays until that one serves the VCL that it failed to load before. */
function findLeaving(
  { remove }: PlacementDecision,
  placements: readonly PlacementRecord[],
  agents: AgentIndex,
): PlacementDecision['remove'] {
  const going = new Set(remove.map(({ agentId }) => agentId))
  const isComing = placements.some(
    ({ agentId, candidate, state }) =>
      (candidate !== null || state === 'applying') &&
      !going.has(agentId) &&
      agents.byId.get(agentId)?.state === agentStates.Running,
  )
  return isComing ? remove.filter(({ reason }) => reason !== fullReason) : remove
}

function findRestarted(fleet: readonly FleetAgent[]): ReadonlySet<number> {
  const restarted = fleet.filter(
    ({ cacheRestarted, state }) => cacheRestarted && state === agentStates.Running,
  )
  return new Set(restarted.map(({ id }) => id))
}

/** A release that is refused now stays where it is, and is placed on no further agents. */
function addNewcomers(
  { agents, placements }: PlacingInput,
  exclude: ReadonlySet<number>,
): ReadonlySet<number> {
  const placed = new Set(placements.map(({ agentId }) => agentId))
  return new Set([...exclude, ...[...agents.byId.keys()].filter((id) => !placed.has(id))])
}

function keepPlacements(
  { keepDown }: ReconcileRun,
  placements: readonly PlacementRecord[],
): ReadonlySet<number> {
  const kept = placements.filter((placement) => placement.keptDown)
  return kept.length === 0 ? keepDown : new Set([...keepDown, ...kept.map((one) => one.agentId)])
}

/** By the owners of these groups: the agents that their groups may use. */
export async function indexByOwner(
  groups: readonly { readonly organizationId: number | null }[],
  fleet: readonly FleetAgent[],
): Promise<ReadonlyMap<number | null, AgentIndex>> {
  const indexes = new Map<number | null, AgentIndex>()
  for (const owner of new Set(groups.map(({ organizationId }) => organizationId))) {
    const usable = fleet.filter((agent) => isUsableBy(owner, agent))
    indexes.set(owner, await runInSteps(indexInSteps(usable)))
  }
  return indexes
}

function agentsOf(run: ReconcileRun, { organizationId }: Reconcilable): AgentIndex {
  return run.agents.get(organizationId) ?? indexAgents([])
}
