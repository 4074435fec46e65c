/**
 * Plans a verb of a group: what it would change now, and why it would be refused or wait. The plan is decided as the verb itself
 * is, but nothing is kept or changed (docs/behaviour.md, Plans of verbs).
 */
import { FleetError } from '../../errors.js'
import { groupBy } from '../../group-by.js'
import type { Actor } from '../../resources/permission.js'
import type { VerbPlan } from '../../resources/vclgroup.js'
import { listStagedAgents } from '../fleet/end-stage.js'
import { readFleet } from '../fleet/fleet.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import { readPlacements } from '../fleet/placement-queries.js'
import type { Release } from '../fleet/vcl-group.js'
import { gatherSources, type Gathered, type GatheredSources } from '../groups/deploy-sources.js'
import { refuseConsoleGroup } from '../groups/console-groups.js'
import { readFreeze, refuseFrozen } from '../identity/freeze.js'
import { compareWithPlacements } from '../placement/candidates.js'
import { describePlacements } from '../placement/describe-placements.js'
import type { PlannedPlacement } from '../placement/plan-schemas.js'
import { isInDeploy, judgeReplacing, readNamesOf } from '../placement/replacing.js'
import { requireNoRollout } from '../rollouts/running-rollout.js'
import type { StateService } from '../service.js'
import { scopeOfOwner } from '../store/scope.js'
import { chooseAgents, findServing, findShortage, refuseShort, type Asked } from './begin.js'
import { compareRouting } from './routing.js'
import { gatherStage } from './staged-sources.js'
import { findRollbackTarget, gatherEarlier } from './verbs.js'

interface PlanRequest {
  readonly actor: Actor
  readonly group: GroupRecord
  readonly verb: VerbPlan['verb']
  /** The revision to roll back to; null: the newest with other sources. */
  readonly revision: number | null
  readonly replace: { readonly force: boolean } | undefined
}

/** The VCL that the verb would put on caches. */
interface PlannedSources extends Pick<Asked, 'naming'> {
  readonly gathered: Gathered
  readonly revision: number | null
}

/** The agents that it would be on. */
type Outcome = Pick<VerbPlan, 'agents' | 'changes' | 'refusal'>

export async function planVerb(service: StateService, request: PlanRequest): Promise<VerbPlan> {
  const { group, verb } = request
  const hindrance = await tryFor(() => requireTurn(service, request))
  const plan = verb === 'undeploy' ? planLeaving(service, request) : planRelease(service, request)
  const from = group.deployed && group.desiredRelease ? toPins(group.desiredRelease) : null
  const { refusal, ...rest } = await plan
  return { verb, from, ...nothing, ...rest, refusal: hindrance?.message ?? refusal }
}

const nothing = { revision: null, to: null, agents: [], routing: [], tests: [] } as const

type PartOfPlan = Pick<VerbPlan, 'changes' | 'refusal'> & Partial<VerbPlan>

async function planLeaving(service: StateService, request: PlanRequest): Promise<PartOfPlan> {
  const { group } = request
  const agents = await planRemoval(service, group)
  const routing = await planRouting(service, request, { agents, fqdns: [] })
  return { agents, routing, changes: group.deployed, refusal: null }
}

async function planRelease(service: StateService, request: PlanRequest): Promise<PartOfPlan> {
  const { group, verb } = request
  const aim = await tryFor(() => choosePlannedSources(service, request))
  if (aim instanceof FleetError) return { changes: false, refusal: aim.message }
  const { gathered, revision } = aim
  const to = toPins(gathered)
  if ('error' in gathered) return { to, revision, changes: true, refusal: gathered.error }
  const outcome = await planAgents(service, request, { ...aim, gathered })
  const fqdns = gathered.domains.map(({ fqdn }) => fqdn)
  const routing = await planRouting(service, request, { agents: outcome.agents, fqdns })
  // A rollback runs no tests: they must not delay the way out of an incident.
  const tests = verb === 'rollback' || !outcome.changes ? [] : group.tests
  return { ...outcome, to, revision, routing, tests }
}

/** Returns a FleetError instead of throwing it: a refusal is part of the plan. */
async function tryFor<Answer>(run: () => Promise<Answer>): Promise<Answer | FleetError> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof FleetError) return error
    throw error
  }
}

/** Throws 'conflict' if the verb must wait for a freeze, a rollout or another deploy to end. */
async function requireTurn(
  { store: { queries }, now }: StateService,
  { group, verb }: PlanRequest,
): Promise<undefined> {
  refuseConsoleGroup(group, { errorKey: 'deploy' })
  const frozen = verb === 'rollback' ? null : await readFreeze(queries, group.organizationId, now())
  if (frozen !== null) throw refuseFrozen(frozen)
  await requireNoRollout(queries, group.id)
  if (await isInDeploy(queries, group.id))
    throw new FleetError('conflict', 'deploy', 'another deploy of this group is in progress')
}

async function choosePlannedSources(
  service: StateService,
  { group, verb, revision }: PlanRequest,
): Promise<PlannedSources> {
  const { queries } = service.store
  if (verb === 'rollback') {
    const target = await findRollbackTarget(queries, group, revision)
    const gathered = await gatherEarlier(service, queries, group, target.sources)
    const naming = { earlier: target.sources.programName }
    return { gathered, naming, revision: target.revision }
  }
  const gathered =
    verb === 'promote'
      ? await gatherStage(service, queries, group)
      : await gatherSources(service, group)
  return { gathered, naming: 'kept', revision: null }
}

async function planAgents(
  service: StateService,
  { actor, group, verb, replace }: PlanRequest,
  { gathered, naming }: PlannedSources & { readonly gathered: GatheredSources },
): Promise<Outcome> {
  const { queries } = service.store
  const action = verb === 'undeploy' ? 'deploy' : verb // never called for undeploy
  const { id: groupId } = group
  const now = service.now()
  const asked: Asked = { actor, groupId, action, group, gathered, naming, replace, now }
  const chosen = await chooseAgents(queries, asked)
  const { decision, deployments, agents, fleet, target } = chosen
  const names = new Map(fleet.map(({ id, name }) => [id, name]))
  const nameOf = await readNamesOf(queries, group.organizationId)
  const places = describePlacements(decision, deployments, { agents, names, nameOf })
  const same = findServing(asked)
  const isSame = same !== undefined && compareWithPlacements(chosen, same) !== undefined
  if (isSame) return { agents: places, changes: verb === 'promote', refusal: null }
  const shortage = await findShortage(queries, group, chosen)
  const refusal = shortage
    ? (await refuseShort(queries, asked, chosen, shortage)).message
    : await judgeReplacing(queries, {
        decision,
        agents,
        group: target,
        force: replace?.force ?? false,
      })
  return { agents: places, changes: true, refusal: refusal ?? null }
}

/** Returns all placements of the group as leaving. */
async function planRemoval(
  { store: { queries } }: StateService,
  { id, organizationId }: GroupRecord,
): Promise<readonly PlannedPlacement[]> {
  const placements = await readPlacements(queries, { groupIds: [id], stage: false })
  const names = await readAgentNames(queries, organizationId)
  return placements.map(({ agentId }) => toLeaving(agentId, names, 'the group is undeployed'))
}

function toLeaving(
  id: number,
  names: ReadonlyMap<number, string>,
  reason: string,
): PlannedPlacement {
  const agent = { id, name: names.get(id) ?? '' }
  return { agent, deployment: null, held: true, waiting: false, reason, replaces: [] }
}

const none: ReadonlyMap<number, string> = new Map()

/** Returns equal changes once. A promote ends the stage even on agents where the group is not placed. */
async function planRouting(
  service: StateService,
  { actor, group, verb }: PlanRequest,
  next: { readonly agents: readonly PlannedPlacement[]; readonly fqdns: readonly string[] },
): Promise<VerbPlan['routing']> {
  const { queries } = service.store
  const endsStage = verb === 'promote'
  const there = new Set(next.agents.map(({ agent }) => agent.id))
  const staged = endsStage ? await listStagedAgents(queries, group.id) : []
  const left = staged.filter((id) => !there.has(id))
  const names = left.length === 0 ? none : await readAgentNames(queries, group.organizationId)
  const leaving = left.map((id) => toLeaving(id, names, 'the stage ends'))
  const agents = [...next.agents, ...leaving]
  const all = await compareRouting(service, actor, { group, ...next, agents, endsStage })
  const changes = all.filter(({ from, to }) => from !== to)
  const alike = groupBy(changes, ({ from, to }) => JSON.stringify([from, to]))
  return [...alike.values()].flatMap((same) => {
    const [first] = same
    return first ? [{ agents: same.map(({ agent }) => agent), from: first.from, to: first.to }] : []
  })
}

async function readAgentNames(
  queries: StateService['store']['queries'],
  organizationId: number | null,
): Promise<ReadonlyMap<number, string>> {
  const fleet = await readFleet(queries, scopeOfOwner(organizationId))
  return new Map(fleet.map(({ id, name }) => [id, name]))
}

function toPins({
  mainVCL,
  includes,
}: Pick<Release, 'mainVCL' | 'includes'>): NonNullable<VerbPlan['to']> {
  return { mainVCL, includes: [...includes] }
}
