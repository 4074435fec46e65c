/**
 * Staging: sources of a group that are tried on agents of their own before they are deployed (choices: 3, Stage). Two
 * phases like a deploy, but all or nothing: every Running agent with all of the tags must load, then all switch.
 */
import type { Context } from '../../context.js'
import type { Actor } from '../../resources/permission.js'
import type { StageTarget } from '../fleet/vcl-group.js'
import { FleetError } from '../../errors.js'
import { readDomainNames } from '../domains/domain-queries.js'
import { readUsableTagIds } from '../fleet/tag-queries.js'
import { findGroup, type GroupRecord } from '../fleet/group-queries.js'
import { readUsableIds } from '../store/owner.js'
import { requireAll } from '../api/find-references.js'
import { scopeOf, type StateService } from '../service.js'
import { followBegun, type VerbAnswer } from './deploy.js'
import { flattenFiles, requireOwnMain } from '../groups/deploy-sources.js'
import { beginInTurn } from './deploy-turn.js'
import { recordRefusedDeploy } from '../groups/history.js'
import { beginStage } from './stage-begin.js'
import { listStagedAgents } from './stage-end.js'
import { waitUntilLeft } from './switch-wait.js'
import { requireMain } from '../groups/groups.js'
import type { stage } from '../../resources/vclgroup.js'
import type { GivenBody } from '../api/resource-schemas.js'

/** What is left out, or null, is the group's. */
type StageRequest = GivenBody<typeof stage> & { readonly groupId: number }

/** Chosen by us: as long as a deploy waits when nothing else is said; the work itself goes on. */
const waitMs = 60_000

/** Throws FleetError: not-found, invalid, conflict, unavailable, uncompilable. */
export async function stageVclGroup(
  service: StateService,
  context: Context,
  actor: Actor,
  request: StageRequest,
): Promise<VerbAnswer> {
  const { queries } = service.store
  const untilMs = service.now() + waitMs
  const group = await findGroup(queries, scopeOf(actor), request.groupId)
  if (!group) throw new FleetError('not-found', 'deploy', `${request.groupId} was not found`)
  const { target, ...staged } = await readStaged(service, group, request)
  const gathered = await flattenFiles(service, queries, { ...group, ...staged }, staged)
  const turn = { actor, groupId: group.id, action: 'stage', untilMs } as const
  if ('error' in gathered) {
    await recordRefusedDeploy(service, { ...turn, group, gathered, result: gathered.error })
    throw new FleetError('uncompilable', 'deploy', gathered.error)
  }
  let before: readonly number[] = []
  const begun = await beginInTurn(service, context, turn, async (queries) => {
    before = await listStagedAgents(queries, group.id)
    return beginStage(service, queries, { ...turn, traceId: context.traceId, gathered, target })
  })
  const answer = await followBegun(service, context, begun, { ...turn, waitMs, percent: 100 })
  return answer.completed
    ? waitUntilLeft(service, { groupId: group.id, stage: true }, before, untilMs)
    : answer
}

/** Everything there and usable by the group's owner, and domains where the group has some. */
async function readStaged(service: StateService, group: GroupRecord, request: StageRequest) {
  const { queries } = service.store
  const owner = group.organizationId
  const tagIds = await requireAll(request.tags, 'tags', 'deploy', (ids) =>
    readUsableTagIds(queries, owner, ids),
  )
  const main = request.mainVCL
    ? await requireMain(service, owner, { main: request.mainVCL, errorKey: 'deploy' })
    : requireOwnMain(group)
  const includeIds = request.includes
    ? await requireAll(request.includes, 'includes', 'deploy', (ids) =>
        readUsableIds(queries, 'files', owner, ids),
      )
    : group.includes.map(({ id }) => id)
  const { mainFileId, mainFileVersion } = main
  const target: StageTarget = {
    tagIds: tagIds.toSorted((a, b) => a - b),
    ownDomains: Boolean(request.domains && request.domains.length > 0),
    mainFileVersion,
  }
  return {
    target,
    mainVCL: { id: mainFileId, version: mainFileVersion },
    includes: includeIds.map((id) => ({ id, version: null })),
    domains: await readOwnDomains(service, group, request.domains),
    // Its tags say where it goes.
    deployments: [],
  }
}

async function readOwnDomains(
  service: StateService,
  group: GroupRecord,
  wanted: StageRequest['domains'],
): Promise<GroupRecord['domains']> {
  if (!wanted || (wanted.length === 0 && group.root)) return group.domains
  if (group.root)
    throw new FleetError(
      'invalid',
      'deploy',
      'domains: a root group has none, and is staged without; leave the key out',
    )
  if (wanted.length === 0)
    throw new FleetError(
      'invalid',
      'deploy',
      "domains: a stage of a group with domains answers for some; leave the key out for the group's",
    )
  const { queries } = service.store
  const ids = await requireAll(wanted, 'domains', 'deploy', (ids) =>
    readUsableIds(queries, 'domains', group.organizationId, ids),
  )
  return readDomainNames(queries, ids)
}
