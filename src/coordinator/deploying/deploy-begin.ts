/** The first step of a deploy: choose agents, save candidates and the deploy's row, tell the agents. */
import type { Context } from '../../context.js'
import { programOf, type WishedFile, type WishedSources } from '../fleet/vcl-group.js'
import { FleetError } from '../../errors.js'
import { indexAgents, recordPlacement } from '../fleet/agent-index.js'
import type { HeldPlace } from '../fleet/placement-input.js'
import { relateBranch } from '../files/branch-queries.js'
import { insertDeploy, type DeployRecord } from '../fleet/deploy-queries.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import { readFleet } from '../fleet/fleet.js'
import { readPlacements, savePlacements } from '../fleet/placement-queries.js'
import { markReplaced, readReplaceable } from '../fleet/replaced-places.js'
import { scopeOfOwner } from '../store/scope.js'
import { keepSource } from '../fleet/sources.js'
import { readDeploymentsOfGroup } from '../fleet/target-queries.js'
import type { Queries } from '../store/store.js'
import { findGroup, writeWish, type GroupRecord } from '../fleet/group-queries.js'
import { compareWithPlaces, findUnasked, toCandidates } from './deploy-candidates.js'
import { findServing, nameChoice, type Choose } from './deploy-choice.js'
import type { GatheredSources } from '../groups/deploy-sources.js'
import { beginInTurn, type Begun, type Refused, type TurnRequest } from './deploy-turn.js'
import { markLeaving, promoteInPlace } from './stage-end.js'
import { leaseMs } from '../store/leases.js'
import { decidePlacement } from '../placement/placing.js'
import { isInDeploy, judgeReplacing, readNamesOf } from '../placement/replacing.js'
import { scopeOf, type StateService } from '../service.js'
import { describeShortages, type Shortage } from '../placement/shortage.js'

export interface BeginRequest extends TurnRequest {
  readonly choose: Choose
  /** It takes the places of other groups of its owner; with force also where that brings them below min. */
  readonly replace?: { readonly force: boolean } | undefined
  /** Places that their groups leave for this one: their agents have lost the tags. */
  readonly freed?: readonly HeldPlace[]
}

/** Answers the deploy that now runs, or 'unchanged' when every cache serves this already, 'switching' when it will. */
export function beginDeploy(
  service: StateService,
  context: Context,
  request: BeginRequest,
): Promise<DeployRecord | 'unchanged' | 'switching'> {
  return beginInTurn(service, context, request, (queries) =>
    tryBegin(service, context, request, queries),
  )
}

async function tryBegin(
  service: StateService,
  context: Context,
  request: BeginRequest,
  queries: Queries,
): Promise<Begun> {
  const { actor, groupId } = request
  const group = await findGroup(queries, scopeOf(actor), groupId)
  if (!group) throw new FleetError('not-found', 'deploy', `${groupId} was not found`)
  if (await isInDeploy(queries, group.id)) return { kind: 'busy' }

  const { gathered, naming } = await request.choose(queries, group)
  if ('error' in gathered) return refuse('uncompilable', gathered.error, { group, gathered })
  const choice = { gathered, naming }
  const promoting = request.action === 'promote'
  const chosen = await chooseAgents(queries, request, { group, gathered, promoting })
  const { placements, decision } = chosen
  const same = findServing(group, choice)
  const compared = same ? compareWithPlaces(placements, decision, same) : 'other'
  if (compared !== 'other') {
    await noteBranch(queries, group, gathered.mainVCL, service.now())
    const kind = compared === 'in-place' ? 'unchanged' : 'switching'
    const ended = { group, account: actor.accountName, now: service.now() }
    return promoting ? { kind, agentIds: await promoteInPlace(queries, ended) } : { kind }
  }

  await keepSource(queries, gathered.source, service.now())
  const sources = await nameChoice(queries, group, choice, placements)
  const wanted = { group, gathered, sources, promoting, same }
  const refused = await findRefusal(queries, request, { ...wanted, ...chosen })
  if (refused) return refused
  const deploy = {
    groupId: group.id,
    organizationId: group.organizationId,
    action: request.action,
    revision: findRevision(group, wanted),
    sources,
    traceId: context.traceId,
    account: actor.accountName,
    startedAt: service.now(),
    owner: service.leases.processId,
    epoch: 1,
  }
  const id = await insertDeploy(queries, deploy, service.now() + leaseMs)
  const agentIds = await saveCandidates(queries, request, { deploy, ...chosen, promoting })
  return { kind: 'begun', deploy: { ...deploy, id }, agentIds }
}

interface Target {
  readonly group: GroupRecord
  readonly gathered: GatheredSources
  readonly promoting: boolean
}

/** Who is to load it, and from what that was decided. */
async function chooseAgents(
  queries: Queries,
  { freed = [], replace }: BeginRequest,
  { group, gathered, promoting }: Target,
) {
  const placements = await readPlacements(queries, { groupIds: [group.id], stage: false })
  const deployments = await readDeploymentsOfGroup(queries, group.id, gathered.deploymentIds)
  const fleet = await readFleet(queries, scopeOfOwner(group.organizationId))
  const agents = indexAgents(fleet)
  for (const { agentId, holder } of freed)
    recordPlacement(agents, { id: holder, root: false }, { add: [], remove: [{ agentId }] })
  const replaces = replace && (await readReplaceable(queries, group))
  const target = { id: group.id, domains: gathered.domains, promoting, replaces }
  const decision = await decidePlacement(queries, {
    ...{ group: target, deployments, agents, placements },
    wanted: group.wish ? programOf(group.wish) : undefined,
  })
  return { placements, deployments, fleet, agents, target, decision }
}

type ChosenAgents = Awaited<ReturnType<typeof chooseAgents>>

/** Too few agents, or the places of others that it may not take. */
async function findRefusal(
  queries: Queries,
  request: BeginRequest,
  short: ChosenAgents & ShortDeploy,
): Promise<Refused | undefined> {
  const { target, decision, agents, deployments, fleet, ...wanted } = short
  const { group } = wanted
  if (deployments.length === 0 || decision.shortages.length > 0) {
    const names = { agents: fleet, nameOf: await readNamesOf(queries, group.organizationId) }
    const shortage = describeShortages(decision, deployments, names)
    if (shortage) {
      const mayReplace =
        shortage.kind === 'conflict' && (await wouldReplacingDo(queries, request, short))
      const remedy = mayReplace ? '; ?replace=true takes their places' : ''
      return refuseShort(queries, { ...shortage, message: `${shortage.message}${remedy}` }, wanted)
    }
  }
  const force = request.replace?.force ?? false
  const hindrance = await judgeReplacing(queries, { group: target, decision, agents, force })
  return hindrance === undefined ? undefined : refuse('conflict', hindrance, wanted)
}

/** Only where that helps: agents may be held by groups of other owners besides. */
async function wouldReplacingDo(
  queries: Queries,
  { action, replace }: BeginRequest,
  { target, deployments, agents, placements, group }: ChosenAgents & ShortDeploy,
): Promise<boolean> {
  if (action !== 'deploy' || replace || group.console) return false
  const replaces = await readReplaceable(queries, group)
  const input = { group: { ...target, replaces }, deployments, agents, placements }
  return (await decidePlacement(queries, input)).shortages.length === 0
}

/** Answers the agents whose desired state changed. */
async function saveCandidates(
  queries: Queries,
  { freed = [] }: BeginRequest,
  {
    deploy,
    placements,
    decision,
    promoting,
  }: Pick<ChosenAgents, 'placements' | 'decision'> & {
    readonly deploy: Omit<DeployRecord, 'id'>
    readonly promoting: boolean
  },
): Promise<readonly number[]> {
  const { groupId } = deploy
  const candidates = toCandidates(deploy, placements, decision)
  if (promoting) await markLeaving(queries, groupId, candidates)
  await markReplaced(queries, groupId, decision.replaced)
  const chosen = new Set(candidates.map(({ agentId }) => agentId))
  const leaving = freed.filter(({ agentId }) => chosen.has(agentId))
  await markReplaced(queries, groupId, leaving, { leaving: true })
  await savePlacements(queries, candidates)
  return recomposeDesired(queries, [...chosen], { anew: findUnasked(placements, candidates) })
}

interface Again {
  readonly promoting: boolean
  /** What is deployed already, when that is what is asked for. */
  readonly same: WishedSources | undefined
}

interface ShortDeploy extends Pick<Refused, 'group' | 'gathered'>, Again {
  readonly sources: WishedSources
}

/** The same sources once more, where somebody failed or is to come, make no other one. */
function findRevision({ revision }: GroupRecord, { promoting, same }: Again): number {
  return same && !promoting ? revision : revision + 1
}

/** Another branch, or another commit, with the text that the caches of a console's group serve already. */
async function noteBranch(
  queries: Queries,
  { id, console, wish, revision }: GroupRecord,
  mainVCL: WishedFile,
  now: number,
): Promise<void> {
  if (!console || !wish) return
  await writeWish(queries, id, { sources: { ...wish, mainVCL }, pending: false, revision })
  await relateBranch(queries, id, mainVCL.id, now)
}

function refuse(
  because: Refused['because'],
  message: string,
  refused: Pick<Refused, 'group' | 'gathered'>,
): Refused {
  return { kind: 'refused', because, message, ...refused }
}

/** Late agents get what is wished, and what is deployed anyway. A promote that fails keeps the stage, and nothing else. */
async function refuseShort(
  queries: Queries,
  { kind, message }: Shortage,
  refused: ShortDeploy,
): Promise<Refused> {
  const { group, gathered, sources, promoting, same } = refused
  if (kind === 'unavailable' && !promoting && !same)
    await writeWish(queries, group.id, { sources, pending: true, revision: group.revision })
  return refuse(kind, message, { group, gathered })
}
