/**
 * The first step of a deploy, under the decision lock: decides which agents load which VCL, under which name. It saves the
 * candidates and the deploy's row and begins phase one, or finds nothing to load, or records a refusal in the history.
 */
import type { Context } from '../../context.js'
import { FleetError } from '../../errors.js'
import type { Actor } from '../../resources/permission.js'
import type { RolloutPolicy } from '../../resources/rollout.js'
import { isSameLoad, programName } from '../../vcl/desired-engine.js'
import { relateBranch } from '../files/branch-queries.js'
import { runInSteps } from '../../in-steps.js'
import { indexInSteps, recordPlacement } from '../fleet/agent-index.js'
import type { DeployAction } from '../fleet/deploy-queries.js'
import { readDeploymentsOfGroup } from '../fleet/target-queries.js'
import { readFleet } from '../fleet/fleet.js'
import { findGroup, writeDesiredRelease, type GroupRecord } from '../fleet/group-queries.js'
import { addHistory } from '../fleet/history-queries.js'
import type { HeldPlacement } from '../fleet/placement-input.js'
import { readPlacements, type PlacementRecord } from '../fleet/placement-queries.js'
import { readReplaceable } from '../fleet/replaced-placements.js'
import { countLoad, keepSource } from '../fleet/sources.js'
import { programOf, type ReleaseDomain, type Release } from '../fleet/vcl-group.js'
import type { Gathered, GatheredFiles, GatheredSources } from '../groups/deploy-sources.js'
import { compareWithPlacements, type PlacedDecision } from '../placement/candidates.js'
import { decidePlacement } from '../placement/placing.js'
import { isInDeploy, judgeReplacing, readNamesOf } from '../placement/replacing.js'
import { describeShortages, type Shortage } from '../placement/shortage.js'
import { requireNoRollout } from '../rollouts/running-rollout.js'
import { scopeOf, type StateService } from '../service.js'
import { scopeOfOwner } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { promoteInPlace } from './stage.js'
import { startLoading, type Begun, type Plan } from './start-loading.js'

/**
 * `kept`: text that the group already serves keeps its name and is not loaded again. `new`: it is compiled again. `earlier`:
 * the name of an earlier load, used if a cache still has it.
 */
type Naming = 'kept' | 'new' | { readonly earlier: string }

export interface BeginRequest {
  readonly actor: Actor
  readonly groupId: number
  readonly action: DeployAction
  /**
   * Chooses the VCL when the deploy's turn comes: a reload or a rollback that waited for a deploy starts from the result of
   * that deploy. The text may be one that is refused. Throws FleetError: not-found, conflict.
   */
  readonly choose: (
    queries: Queries,
    group: GroupRecord,
  ) => Promise<{ readonly gathered: Gathered; readonly naming: Naming }>
  /** Chooses the agents; by default the group's deployments do. */
  readonly plan?: (queries: Queries, asked: Asked) => Promise<Planned>
  /** Set: it takes over placements of other groups of its owner; with force even if that brings them below min. */
  readonly replace?: { readonly force: boolean } | undefined
  /** How it switches; undefined: by the group's policy. */
  readonly rollout?: RolloutPolicy | null | undefined
  /** Placements that other groups give up for this one, since their agents have lost the tags. */
  readonly freed?: readonly HeldPlacement[]
}

/** A deploy whose turn has come. */
export interface Asked extends Omit<BeginRequest, 'choose' | 'plan'> {
  readonly group: GroupRecord
  readonly gathered: GatheredSources
  readonly naming: Naming
  readonly now: number
}

/** What to load on which agents, or why nothing is loaded. */
export type Planned = Plan | InPlace | Refusal

/** Every cache already serves this, or will. */
interface InPlace {
  readonly kind: 'unchanged' | 'switching'
  /** Agents whose desired state changed nevertheless. */
  readonly agentIds: readonly number[]
}

export interface Refusal {
  readonly because: 'conflict' | 'unavailable' | 'uncompilable'
  readonly message: string
}

/** Returns undefined while another deploy of the group runs. Refusals are returned, not thrown, so that their history is committed. */
export async function tryBegin(
  service: StateService,
  context: Context,
  request: BeginRequest,
  queries: Queries,
): Promise<Begun | InPlace | FleetError | undefined> {
  const group = await requireGroup(queries, request.actor, request.groupId)
  if (await isInDeploy(queries, group.id)) return undefined
  await requireNoRollout(queries, group.id)
  const { gathered, naming } = await request.choose(queries, group)
  const now = service.now()
  const asked = { ...request, group, naming, now }
  const { plan = planDeploy } = request
  const planned: Planned =
    'error' in gathered
      ? { because: 'uncompilable', message: gathered.error }
      : await plan(queries, { ...asked, gathered })
  if ('because' in planned) return refuse(queries, { ...asked, gathered }, planned)
  if ('kind' in planned) return planned
  const run = { traceId: context.traceId, owner: service.leases.processId }
  return startLoading(queries, asked, planned, run)
}

/** Throws 'not-found'. */
export async function requireGroup(
  queries: Queries,
  actor: Actor,
  groupId: number,
): Promise<GroupRecord> {
  const group = await findGroup(queries, scopeOf(actor), groupId)
  if (!group) throw new FleetError('not-found', 'deploy', `${groupId} was not found`)
  return group
}

/** Chooses agents by the group's deployments. */
async function planDeploy(queries: Queries, asked: Asked): Promise<Planned> {
  const { group, gathered, now } = asked
  const promoting = asked.action === 'promote'
  const chosen = await chooseAgents(queries, asked)
  const same = findServing(asked)
  const kind = same && compareWithPlacements(chosen, same)
  if (kind) return { kind, agentIds: await keepInPlace(queries, asked) }
  await keepSource(queries, gathered.source, now)
  const sources = await nameSources(queries, asked, chosen.placements)
  // Deploying the same sources again, for agents that failed or are added, makes no new revision.
  const isNew = promoting || same === undefined
  const revision = isNew ? group.revision + 1 : group.revision
  const shortage = await findShortage(queries, group, chosen)
  if (shortage) {
    const pending = { sources, pending: true, revision: group.revision }
    if (shortage.kind === 'unavailable' && isNew && mayStayPending(asked, chosen))
      await writeDesiredRelease(queries, group.id, pending)
    return refuseShort(queries, asked, chosen, shortage)
  }
  const force = asked.replace?.force ?? false
  const hindrance = await judgeReplacing(queries, { ...chosen, group: chosen.target, force })
  if (hindrance !== undefined) return { because: 'conflict', message: hindrance }
  return { ...chosen, sources, revision }
}

/**
 * Agents that become available later load the pending release. A failed promote only keeps the stage. A deploy that would
 * take over placements does not stay pending: they must not be taken over later.
 */
function mayStayPending({ action }: Asked, { decision }: PlacedDecision): boolean {
  return action !== 'promote' && decision.replaced.length === 0
}

/** Returns the placement decision together with its inputs. */
export async function chooseAgents(queries: Queries, asked: Asked) {
  const { group, gathered, freed = [], replace, action } = asked
  const { id, desiredRelease } = group
  const input = await readPlacingInput(queries, group, gathered.deploymentIds)
  for (const { agentId, holder } of freed)
    recordPlacement(input.agents, { id: holder, root: false }, { add: [], remove: [{ agentId }] })
  const replaces = replace && (await readReplaceable(queries, group))
  const promoting = action === 'promote'
  const { domains, releases } = gathered
  const target = { id, domains, releases, promoting, replaces }
  const wanted = desiredRelease ? programOf(desiredRelease) : undefined
  const decision = await decidePlacement(queries, { ...input, group: target, wanted })
  return { ...input, target, decision }
}

/** Reads the inputs of a group's placement decision. */
export async function readPlacingInput(
  queries: Queries,
  { id, organizationId }: Pick<GroupRecord, 'id' | 'organizationId'>,
  deploymentIds: readonly number[],
) {
  const placements = await readPlacements(queries, { groupIds: [id], stage: false })
  const deployments = await readDeploymentsOfGroup(queries, id, deploymentIds)
  const fleet = await readFleet(queries, scopeOfOwner(organizationId))
  const agents = await runInSteps(indexInSteps(fleet))
  return { placements, deployments, fleet, agents }
}

type PlacingInput = Awaited<ReturnType<typeof readPlacingInput>>
type ChosenAgents = Awaited<ReturnType<typeof chooseAgents>>

/** Describes a lack of agents, naming only what the owner's users may see. */
export async function findShortage(
  queries: Queries,
  { organizationId }: Pick<GroupRecord, 'organizationId'>,
  {
    decision,
    deployments,
    fleet,
  }: Pick<PlacingInput, 'deployments' | 'fleet'> & Pick<PlacedDecision, 'decision'>,
): Promise<Shortage | undefined> {
  if (deployments.length > 0 && decision.shortages.length === 0) return undefined
  const nameOf = await readNamesOf(queries, organizationId)
  return describeShortages(decision, deployments, { agents: fleet, nameOf })
}

/** Suggests ?replace=true only if it would help: groups of other owners may hold agents too. */
export async function refuseShort(
  queries: Queries,
  { action, replace, group }: Asked,
  { target, deployments, agents, placements }: ChosenAgents,
  { kind: because, message }: Shortage,
): Promise<Refusal> {
  if (because !== 'conflict' || action !== 'deploy' || replace || group.console)
    return { because, message }
  const replaces = await readReplaceable(queries, group)
  const input = { group: { ...target, replaces }, deployments, agents, placements }
  const { shortages } = await decidePlacement(queries, input)
  const remedy = shortages.length === 0 ? '; ?replace=true takes their places' : ''
  return { because, message: `${message}${remedy}` }
}

/** Returns the desired release if the deploy would not change it; otherwise undefined. */
export function findServing({ group, gathered, naming }: Asked): Release | undefined {
  const { desiredRelease, deployPending } = group
  if (!desiredRelease || deployPending || naming === 'new') return undefined
  const isSame =
    naming === 'kept'
      ? desiredRelease.sha === gathered.source.sha
      : desiredRelease.programName === naming.earlier
  const isSameTarget =
    desiredRelease.deploymentIds.join() === gathered.deploymentIds.join() &&
    namesOf(desiredRelease.domains) === namesOf(gathered.domains) &&
    desiredRelease.releases?.join() === gathered.releases?.join()
  return isSame && isSameTarget ? desiredRelease : undefined
}

function namesOf(domains: readonly ReleaseDomain[]): string {
  return domains.map(({ fqdn }) => fqdn).join()
}

/** Returns the release with the name of an earlier load or a new one. Call after `keepSource`. */
async function nameSources(
  queries: Queries,
  asked: Asked,
  placements: readonly PlacementRecord[],
): Promise<Release> {
  const { source, ...files } = asked.gathered
  const { sha } = source
  const known = findName(asked, placements)
  const name = known ?? programName(asked.group.id, sha, await countLoad(queries, sha))
  return { ...files, sha, programName: name }
}

function findName(
  { group: { desiredRelease }, gathered, naming }: Asked,
  placements: readonly PlacementRecord[],
): string | undefined {
  const { sha } = gathered.source
  if (naming === 'new') return undefined
  if (naming === 'kept') return desiredRelease?.sha === sha ? desiredRelease.programName : undefined
  // A discarded VCL keeps its name on a cache until its last requests end, so a name that no placement holds is not reused.
  const earlier = { name: naming.earlier, sha }
  const isLoaded = placements.some(({ current, previous }) =>
    [current, previous].some((program) => isSameLoad(program, earlier)),
  )
  return isLoaded ? naming.earlier : undefined
}

/** For text that the caches already serve. Returns the agents whose desired state changed. */
async function keepInPlace(
  queries: Queries,
  { group, gathered: { mainVCL }, action, actor, now }: Asked,
): Promise<readonly number[]> {
  const { id, desiredRelease, revision } = group
  // A console group may have changed its branch or commit.
  if (group.console && desiredRelease) {
    await writeDesiredRelease(queries, id, {
      sources: { ...desiredRelease, mainVCL },
      pending: false,
      revision,
    })
    await relateBranch(queries, id, mainVCL.id, now)
  }
  const { accountName: account } = actor
  return action === 'promote' ? promoteInPlace(queries, { group, account, now }) : []
}

/** Refuses a deploy before anything is placed: adds it to the history and returns the error for the caller. */
export async function refuse(
  queries: Queries,
  asked: Pick<Asked, 'actor' | 'action' | 'group' | 'now'> & { readonly gathered: GatheredFiles },
  { because, message }: Refusal,
): Promise<FleetError> {
  const { actor, action, group, gathered, now } = asked
  const { mainVCL, includes, deploymentIds, domains, releases } = gathered
  await addHistory(queries, {
    groupId: group.id,
    organizationId: group.organizationId,
    revision: null,
    at: now,
    account: actor.accountName,
    action,
    result: message,
    sources: { mainVCL, includes, deploymentIds, domains, releases, sha: '', programName: '' },
  })
  return new FleetError(because, 'deploy', message)
}
