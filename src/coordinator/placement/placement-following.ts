/**
 * Placement follows tags, min, max and agents at once, for deployed groups and stages (docs/behaviour.md, Placement). One pass
 * serves a whole batch of arrivals: all groups are decided together under the decision lock.
 */
import {
  holderId,
  indexAgents,
  recordPlacement,
  type AgentIndex,
  type PlaceHolder,
} from '../fleet/agent-index.js'
import { agentStates } from '../../resources/agent-state.js'
import { groupBy } from '../../group-by.js'
import { judgeLoss, type LossJudgement } from './mass-loss.js'
import { fullReason, type PlacementDecision } from './placement.js'
import { stageDeployment } from '../fleet/stage.js'
import { programOf, type WishedSources } from '../fleet/vcl-group.js'
import { endPlacementWaits, forgetRestarts } from '../fleet/condition-queries.js'
import { readDeploymentsInForce, type AskedOfGroups } from '../fleet/target-queries.js'
import { readDeploys } from '../fleet/deploy-queries.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import { isUsableBy, readFleet, type FleetAgent } from '../fleet/fleet.js'
import type { Term } from '../store/lease-queries.js'
import { isFitting } from '../fleet/placement-target.js'
import { readPlacements, type PlacementRecord } from '../fleet/placement-queries.js'
import { readBeingReplaced } from '../fleet/replaced-places.js'
import { readStages, type StageRecord } from '../fleet/stage-queries.js'
import type { Queries } from '../store/store.js'
import { readGroups, type GroupRecord } from '../fleet/group-queries.js'
import { requireTerm } from '../store/leases.js'
import { savePass, type GoingPlace, type ReadyGroup, type SavedPass } from './placement-pass.js'
import { settlePlacement } from './placement-settling.js'
import { createPlacement, decideFollowing, holdsPlace, type PlacingInput } from './placing.js'
import type { StateService } from '../service.js'

/** Remembers what it judged: placement asks again and again about the same texts. */
export interface TextJudge {
  /** Whether what is deployed may go to agents that it is not on. */
  isTaken(
    queries: Queries,
    owner: { readonly organizationId: number | null },
    wished: WishedSources,
  ): Promise<boolean>
}

interface FollowedPlacements {
  /** Agents whose desired state changed, or is to be sent now. */
  readonly agentIds: readonly number[]
  /** Groups whose kept wish can be deployed now: enough agents are there. */
  readonly ready: readonly ReadyGroup[]
  /** When it must be looked at again; null: no need. */
  readonly againAt: number | null
}

export interface PassLimits {
  /** Until then nobody is moved for being Down. */
  readonly patientUntil: number
  readonly judge: TextJudge
  /** Of the duty `placement`: a pass that is no longer this process's writes nothing. */
  readonly term: Term
  /** Whether a kept wish that can be deployed is. */
  readonly isDue: (group: GroupRecord) => boolean
}

export function followPlacements(
  service: StateService,
  { patientUntil, term, judge, isDue }: PassLimits,
): Promise<FollowedPlacements> {
  return service.store.decide(async (queries) => {
    await requireTerm(queries, term)
    const pass = await readPass(service, queries, { patientUntil, judge, isDue })
    for (const group of pass.groups) await followGroup(queries, pass, group)
    // After all groups: what is only tried takes no place from them.
    for (const stage of pass.stages) await follow(queries, pass, followedStage(stage))
    await offerFreed(queries, pass)
    const { agentIds, released } = await savePass(queries, pass, service.now())
    await forgetRestarts(queries, [...pass.restarted])
    const waited = await endPlacementWaits(queries, findAwaited(pass))
    const composed = await recomposeDesired(queries, agentIds)
    return {
      agentIds: [...new Set([...composed, ...waited])],
      ready: pass.ready,
      againAt: released ? service.now() : pass.loss.againAt,
    }
  })
}

/** Groups that come before those that leave an agent have not seen it free. */
async function offerFreed(queries: Queries, pass: Pass): Promise<void> {
  if (pass.going.length === 0) return
  const freed = pass.going.map(({ agentId }) => agentId)
  for (const group of pass.groups) {
    const followed = followedGroup(pass, group)
    const agents = followed && agentsOf(pass, followed)
    const mayCome = freed.some((agentId) => {
      const agent = agents?.byId.get(agentId)
      return (
        agent !== undefined &&
        !agent.groupIds.has(group.id) &&
        followed?.deployments.some(({ target }) => isFitting(agent, target)) === true
      )
    })
    if (mayCome) await followGroup(queries, pass, group)
  }
}

async function followGroup(queries: Queries, pass: Pass, group: GroupRecord): Promise<void> {
  const followed = followedGroup(pass, group)
  const decision = followed && (await follow(queries, pass, followed))
  if (!decision || pass.ready.some((one) => one.group.id === group.id)) return
  const isTried = pass.isDue(group)
  pass.ready.push({ group, isTried, agentIds: decision.add.map(({ agentId }) => agentId) })
}

/** Agents that a group with a kept wish is about to be deployed on: they are told nothing before. */
function findAwaited({ ready }: Pass): ReadonlySet<number> {
  return new Set(ready.filter(({ isTried }) => isTried).flatMap(({ agentIds }) => agentIds))
}

interface Pass extends SavedPass {
  readonly groups: readonly GroupRecord[]
  readonly stages: readonly StageRecord[]
  readonly deployments: AskedOfGroups
  /** By the groups' owners; kept true as groups are decided, so that two never choose one agent at once. */
  readonly agents: ReadonlyMap<number | null, AgentIndex>
  /** Running agents whose cache restarted: what failed there is tried again (docs/behaviour.md, Deploy). */
  readonly restarted: ReadonlySet<number>
  readonly loss: LossJudgement
  /** Whose places nobody takes in this pass, whatever the group. */
  readonly keepDown: ReadonlySet<number>
  readonly judge: TextJudge
  readonly isDue: PassLimits['isDue']
}

/** What a pass looks after: a deployed group, or a stage. */
export interface Followed extends PlaceHolder {
  readonly organizationId: number | null
  readonly revision: number
  readonly keepOnFailure: boolean
  readonly wish: WishedSources
  readonly wishPending: boolean
  readonly deployments: PlacingInput['deployments']
}

async function readPass(
  service: StateService,
  queries: Queries,
  { patientUntil, judge, isDue }: Pick<PassLimits, 'patientUntil' | 'judge' | 'isDue'>,
): Promise<Pass> {
  const deploys = await readDeploys(queries)
  const busy = new Set([
    ...deploys.map((deploy) => deploy.groupId),
    ...(deploys.length > 0 ? await readBeingReplaced(queries) : []),
  ])
  const groups = (await readGroups(queries, { kind: 'all' }, { deployed: true })).filter(
    (group) => !busy.has(group.id),
  )
  const stages = (await readStages(queries)).filter(({ groupId }) => !busy.has(groupId))
  const groupIds = [
    ...new Set([...groups.map(({ id }) => id), ...stages.map((one) => one.groupId)]),
  ]
  // Nobody asks for an agent where nothing is deployed.
  const isIdle = groupIds.length === 0
  const before = groupBy(isIdle ? [] : await readPlacements(queries, { groupIds }), holderId)
  const fleet = isIdle ? [] : await readFleet(queries, { kind: 'all' })
  const { heartbeatMs } = service.settings
  const loss = judgeLoss({ agents: fleet, now: service.now(), heartbeatMs, patientUntil })
  return {
    groups,
    stages,
    before,
    placements: new Map(before),
    going: [],
    ready: [],
    judge,
    isDue,
    takers: new Set(fleet.flatMap(({ replacedBy }) => [...(replacedBy?.values() ?? [])])),
    deployments: await readDeploymentsInForce(queries, groups),
    agents: indexByOwner([...groups, ...stages], fleet),
    restarted: findRestarted(fleet),
    loss,
    keepDown: new Set([...loss.lost, ...loss.settling]),
  }
}

const nobody: ReadonlySet<number> = new Set()

export function followedGroup(
  pass: Pick<Pass, 'deployments'>,
  group: GroupRecord,
): Followed | undefined {
  const { wish } = group
  return wish === null
    ? undefined
    : {
        ...group,
        ...{ groupId: group.id, stage: false, wish },
        deployments: pass.deployments.get(group.id) ?? [],
      }
}

export function followedStage(stage: StageRecord): Followed {
  const { tagIds } = stage.sources.stage
  return {
    ...stage,
    ...{ stage: true, wish: stage.sources, wishPending: false, keepOnFailure: true },
    deployments: [stageDeployment(tagIds)],
  }
}

/** Answers the decision for a kept wish that can be deployed now; otherwise places follow, and are saved with the pass. */
async function follow(
  queries: Queries,
  pass: Pass,
  followed: Followed,
): Promise<PlacementDecision | undefined> {
  const { groupId, stage, organizationId, wish } = followed
  const program = programOf(wish)
  const holder = holderId(followed)
  const agents = agentsOf(pass, followed)
  const settled = (pass.placements.get(holder) ?? []).map((placement) => {
    // It is that of another group now.
    if (placement.replacedBy !== null) return placement
    const state = agents.byId.get(placement.agentId)?.state
    const isRestarted = pass.restarted.has(placement.agentId)
    const isLost = pass.loss.lost.has(placement.agentId)
    return settlePlacement(placement, { group: followed, program, state, isRestarted, isLost })
  })
  const exclude = findGivenUp(settled, pass.restarted)
  const input: PlacingInput = {
    group: { id: groupId, domains: wish.domains, stage: wish.stage },
    deployments: followed.deployments,
    agents,
    placements: settled,
    exclude,
    wanted: program,
    // A wish that waits for agents is not served by those that are Down.
    keepDown: followed.wishPending ? nobody : keepPlaces(pass, settled),
  }
  let decision = await decideFollowing(queries, input)
  if (followed.wishPending) return decision.shortages.length === 0 ? decision : undefined
  if (decision.add.length > 0 && !(await pass.judge.isTaken(queries, followed, wish)))
    decision = await decideFollowing(queries, { ...input, exclude: addNewcomers(input, exclude) })
  const remove = findLeaving(decision, settled, agents)
  const leave = new Set(remove.map(({ agentId }) => agentId))
  const group = { id: groupId, organizationId }
  const added = decision.add.map((place) =>
    createPlacement({ ...place, group, stage, revision: followed.revision, program }),
  )
  const placed = { id: holder, root: program.fqdns === null, fqdns: program.fqdns ?? [] }
  for (const index of pass.agents.values())
    recordPlacement(index, placed, { add: decision.add, remove })
  const kept = settled.filter(({ agentId }) => !leave.has(agentId))
  pass.placements.set(holder, [...kept, ...added])
  pass.going.push(...settled.filter((place) => leave.has(place.agentId)).map(withState))
  return undefined

  function withState(place: PlacementRecord): GoingPlace {
    return { ...place, agentState: agents.byId.get(place.agentId)?.state }
  }
}

/** Who fills the place of another stays until that one serves what it failed to load before. */
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

/** What failed here is tried again at the next deploy, or when the cache restarted, not in every pass. */
function findGivenUp(
  placements: readonly PlacementRecord[],
  restarted: ReadonlySet<number>,
): ReadonlySet<number> {
  const failed = placements.filter((one) => !holdsPlace(one) && !restarted.has(one.agentId))
  return new Set(failed.map(({ agentId }) => agentId))
}

/** What is refused now stays where it is, and goes nowhere else. */
function addNewcomers(
  { agents, placements }: PlacingInput,
  exclude: ReadonlySet<number>,
): ReadonlySet<number> {
  const placed = new Set(placements.map(({ agentId }) => agentId))
  return new Set([...exclude, ...[...agents.byId.keys()].filter((id) => !placed.has(id))])
}

function keepPlaces(
  { keepDown }: Pass,
  placements: readonly PlacementRecord[],
): ReadonlySet<number> {
  const kept = placements.filter((placement) => placement.keptDown)
  return kept.length === 0 ? keepDown : new Set([...keepDown, ...kept.map((one) => one.agentId)])
}

export function indexByOwner(
  groups: readonly { readonly organizationId: number | null }[],
  fleet: readonly FleetAgent[],
) {
  const owners = new Set(groups.map((group) => group.organizationId))
  return new Map(
    [...owners].map((owner) => [
      owner,
      indexAgents(fleet.filter((agent) => isUsableBy(owner, agent))),
    ]),
  )
}

function agentsOf(pass: Pass, { organizationId }: Followed): AgentIndex {
  return pass.agents.get(organizationId) ?? indexAgents([])
}
