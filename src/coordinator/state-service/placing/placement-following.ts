/**
 * Placement follows tags, min, max and agents at once, for deployed groups and stages (choices: 3, Placement). One pass serves
 * a whole batch of arrivals: all groups are decided together under the decision lock.
 */
import {
  holderId,
  indexAgents,
  recordPlacement,
  type AgentIndex,
  type PlaceHolder,
} from '../../../domain/agent-index.js'
import { agentStates } from '../../../domain/agent-state.js'
import { groupBy } from '../../../domain/group-by.js'
import { judgeLoss, type LossJudgement } from '../../../domain/mass-loss.js'
import { fullReason, type PlacementDecision } from '../../../domain/placement.js'
import { stageDeployment } from '../../../domain/stage.js'
import { programOf, type WishedSources } from '../../../domain/vcl-group.js'
import { forgetRestarts } from '../../../store/agent-conditions.js'
import { readDeploymentsOf, type DeploymentRecord } from '../../../store/deployments.js'
import { readDeploys } from '../../../store/deploys.js'
import { recomposeDesired } from '../../../store/desired-states.js'
import { readFleet, type FleetAgent } from '../../../store/fleet.js'
import type { Term } from '../../../store/leases.js'
import {
  deletePlacements,
  readPlacements,
  savePlacements,
  type PlacementRecord,
} from '../../../store/placements.js'
import { readStages, type StageRecord } from '../../../store/stages.js'
import type { Queries } from '../../../store/store.js'
import { readGroups, type GroupRecord } from '../../../store/vcl-groups.js'
import type { TextJudge } from '../deploying/recall-sources.js'
import { requireTerm } from '../leases.js'
import { settlePlacement } from './placement-settling.js'
import { createPlacement, decideFollowing, holdsPlace, type PlacingInput } from './placing.js'
import type { StateService } from '../service.js'

export interface FollowedPlacements {
  /** Agents whose desired state changed. */
  readonly agentIds: readonly number[]
  /** Groups whose kept wish can be deployed now: enough agents are there. */
  readonly ready: readonly GroupRecord[]
  /** When Down agents are to be judged again; null: no need. */
  readonly againAt: number | null
}

export interface PassLimits {
  /** Until then nobody is moved for being Down. */
  readonly patientUntil: number
  readonly judge: TextJudge
  /** Of the duty `placement`: a pass that is no longer this process's writes nothing. */
  readonly term: Term
}

export function followPlacements(
  service: StateService,
  { patientUntil, term, judge }: PassLimits,
): Promise<FollowedPlacements> {
  return service.store.decide(async (queries) => {
    await requireTerm(queries, term)
    const pass = await readPass(service, queries, { patientUntil, judge })
    const changed: number[] = []
    const ready: GroupRecord[] = []
    for (const group of pass.groups) {
      const followed = followedGroup(pass, group)
      const changes = followed && (await follow(queries, pass, followed))
      if (changes === 'ready') ready.push(group)
      else if (changes) changed.push(...changes)
    }
    // After all groups: what is only tried takes no place from them.
    for (const stage of pass.stages) {
      const changes = await follow(queries, pass, followedStage(stage))
      if (changes !== 'ready') changed.push(...changes)
    }
    await forgetRestarts(queries, [...pass.restarted])
    const agentIds = await recomposeDesired(queries, [...new Set(changed)])
    return { agentIds, ready, againAt: pass.loss.againAt }
  })
}

interface Pass {
  readonly groups: readonly GroupRecord[]
  readonly stages: readonly StageRecord[]
  readonly deployments: ReadonlyMap<number, DeploymentRecord>
  /** By `holderId`. */
  readonly placements: ReadonlyMap<number, PlacementRecord[]>
  /** By the groups' owners; kept true as groups are decided, so that two never choose one agent at once. */
  readonly agents: ReadonlyMap<number | null, AgentIndex>
  /** Running agents whose cache restarted: what failed there is tried again (choices: 3, Deploy). */
  readonly restarted: ReadonlySet<number>
  readonly loss: LossJudgement
  /** Whose places nobody takes in this pass, whatever the group. */
  readonly keepDown: ReadonlySet<number>
  readonly judge: TextJudge
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
  { patientUntil, judge }: Pick<PassLimits, 'patientUntil' | 'judge'>,
): Promise<Pass> {
  const busy = new Set((await readDeploys(queries)).map((deploy) => deploy.groupId))
  const groups = (await readGroups(queries, { kind: 'all' }, { deployed: true })).filter(
    (group) => !busy.has(group.id),
  )
  const stages = (await readStages(queries)).filter(({ groupId }) => !busy.has(groupId))
  if (groups.length + stages.length === 0) return { ...emptyPass, judge }
  const deploymentIds = new Set(groups.flatMap((group) => group.wish?.deploymentIds ?? []))
  const deployments = await readDeploymentsOf(queries, [...deploymentIds])
  const groupIds = new Set([...groups.map(({ id }) => id), ...stages.map((one) => one.groupId)])
  const placements = await readPlacements(queries, { groupIds: [...groupIds] })
  const fleet = await readFleet(queries, { kind: 'all' })
  const { heartbeatMs } = service.settings
  const loss = judgeLoss({ agents: fleet, now: service.now(), heartbeatMs, patientUntil })
  return {
    groups,
    stages,
    deployments: new Map(deployments.map((deployment) => [deployment.id, deployment])),
    placements: groupBy(placements, holderId),
    agents: indexByOwner([...groups, ...stages], fleet),
    restarted: findRestarted(fleet),
    loss,
    keepDown: new Set([...loss.lost, ...loss.settling]),
    judge,
  }
}

const nobody: ReadonlySet<number> = new Set()
const emptyPass: Omit<Pass, 'judge'> = {
  groups: [],
  stages: [],
  deployments: new Map(),
  placements: new Map(),
  agents: new Map(),
  restarted: nobody,
  loss: { lost: nobody, settling: nobody, againAt: null },
  keepDown: nobody,
}

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
        deployments: wish.deploymentIds.flatMap((id) => pass.deployments.get(id) ?? []),
      }
}

export function followedStage(stage: StageRecord): Followed {
  const { tagIds } = stage.sources.stage
  return {
    ...stage,
    ...{ stage: true, wish: stage.sources, wishPending: false, keepOnFailure: true },
    deployments: [{ ...stageDeployment(tagIds), tags: tagIds.map((id) => ({ id })) }],
  }
}

/** Answers the agents that changed. */
async function follow(
  queries: Queries,
  pass: Pass,
  followed: Followed,
): Promise<readonly number[] | 'ready'> {
  const { groupId, stage, organizationId, wish } = followed
  const program = programOf(wish)
  const holder = holderId(followed)
  const before = pass.placements.get(holder) ?? []
  const agents = agentsOf(pass, followed)
  const settled = before.map((placement) => {
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
  if (followed.wishPending) return decision.shortages.length === 0 ? 'ready' : []
  if (decision.add.length > 0 && !(await pass.judge.isTaken(queries, followed, wish)))
    decision = await decideFollowing(queries, { ...input, exclude: addNewcomers(input, exclude) })
  const remove = findLeaving(decision, settled, agents)
  const leave = remove.map(({ agentId }) => agentId)
  const group = { id: groupId, organizationId }
  const added = decision.add.map((place) =>
    createPlacement({ ...place, group, stage, revision: followed.revision, program }),
  )
  const placed = { id: holder, root: program.fqdns === null, fqdns: program.fqdns ?? [] }
  for (const index of pass.agents.values())
    recordPlacement(index, placed, { add: decision.add, remove })
  const kept = settled.filter(
    (placement, index) => placement !== before[index] && !leave.includes(placement.agentId),
  )
  const save = [...kept, ...added]
  await savePlacements(queries, save)
  await deletePlacements(queries, followed, leave)
  return [...save.map(({ agentId }) => agentId), ...leave]
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

/** An organization's groups use its own agents and the shared ones (choices: 2, Agents). */
export function indexByOwner(
  groups: readonly { readonly organizationId: number | null }[],
  fleet: readonly FleetAgent[],
) {
  const owners = new Set(groups.map((group) => group.organizationId))
  return new Map(
    [...owners].map((owner) => {
      const usable = (agent: FleetAgent): boolean =>
        owner === null || agent.organizationId === null || agent.organizationId === owner
      return [owner, indexAgents(fleet.filter(usable))]
    }),
  )
}

function agentsOf(pass: Pass, { organizationId }: Followed): AgentIndex {
  return pass.agents.get(organizationId) ?? indexAgents([])
}
