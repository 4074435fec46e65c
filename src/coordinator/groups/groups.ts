/** Lists, reads, creates and changes VCL groups for the API. Changes take effect at the next deploy. */
import { randomBytes } from 'node:crypto'
import type { Actor } from '../../resources/permission.js'
import type { Problem } from '../../resources/problem.js'
import { fileTypes } from '../../resources/file.js'
import { vclGroup } from '../../resources/vclgroup.js'
import { FleetError, type ErrorKey } from '../../errors.js'
import { readDeploys } from '../fleet/deploy-queries.js'
import { readDomainNames } from '../domains/domain-queries.js'
import { findVersion, readFilesOfOtherType } from '../files/file-queries.js'
import { readUsableIds } from '../store/owner.js'
import { isSame, mergeWritten } from '../store/resource-rows.js'
import { readPlacements } from '../fleet/placement-queries.js'
import { findStage } from '../fleet/stage-queries.js'
import type { Queries } from '../store/store.js'
import {
  deleteGroup as deleteGroupRow,
  findGroup,
  groupColumns,
  insertGroup,
  readGroups,
  selectGroupIds,
  updateGroup as updateGroupRow,
  type GroupFields,
  type GroupRecord,
} from '../fleet/group-queries.js'
import { dateFindings } from '../problems/open-problems.js'
import { readGroupStatuses, type GroupStatus } from '../placement/group-state.js'
import type { MainFile } from './deploy-sources.js'
import {
  chooseOwner,
  referencesNotFound,
  requireAll,
  withUniqueName,
} from '../api/find-references.js'
import { byState, requireFound } from '../api/list-objects.js'
import type { CreateBody, ReferenceBody, UpdateBody } from '../api/resource-schemas.js'
import { requirePolicy } from '../rollouts/require-policy.js'
import { scopeOf, type StateService } from '../service.js'
import { readStageViews, type StageView } from './stage-view.js'

/** A group with the state and problems derived from its places. */
export interface GroupView {
  readonly group: GroupRecord
  readonly status: GroupStatus
  readonly problems: readonly Problem[]
  /** Null: nothing is staged. */
  readonly staged: StagedView | null
}

interface StagedView extends StageView {
  readonly agentStates: GroupStatus['stageStates']
  readonly problems: readonly Problem[]
}

const ofGroups = byState(({ status, problems }: GroupView) => ({ ...status, problems }))

export const groupListing = {
  columns: groupColumns,
  computed: {
    fields: { ...ofGroups.fields, 'staged.problems.code': { type: 'nested' as const } },
    valuesOf: (view: GroupView, field: string) =>
      field === 'staged.problems.code'
        ? (view.staged?.problems ?? []).map(({ code }) => code)
        : ofGroups.valuesOf(view, field),
  },
  select: selectGroupIds,
  read: async (service: StateService, rows: readonly { readonly id: number }[]) => {
    const ids = rows.map(({ id }) => id)
    if (ids.length === 0) return [] // PostgreSQL has no empty `in ()`
    const groups = await readGroups(service.store.queries, { kind: 'all' }, { ids })
    const byId = new Map(groups.map((group) => [group.id, group]))
    return viewGroups(
      service,
      ids.flatMap((id) => byId.get(id) ?? []),
    )
  },
}

export async function viewGroup(service: StateService, group: GroupRecord): Promise<GroupView> {
  const [view] = await viewGroups(service, [group])
  if (!view) throw new Error('one group has one view')
  return view
}

/** Reads the group again. Throws 'not-found'. */
export async function viewGroupAgain(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<GroupView> {
  const found = await findGroup(service.store.queries, scopeOf(actor), id)
  return viewGroup(service, requireFound(found, 'vclgroup', id))
}

async function viewGroups(
  service: StateService,
  groups: readonly GroupRecord[],
): Promise<GroupView[]> {
  const statuses = await readGroupStatuses(service, groups)
  const stages = await readStageViews(
    service,
    groups.map(({ id }) => id),
  )
  const now = service.now()
  const { queries } = service.store
  const found = new Map([...statuses].map(([id, { findings }]) => [id, findings]))
  const problems = await dateFindings(queries, 'vclgroup', found, now)
  const ofStages = new Map([...statuses].map(([id, { stageFindings }]) => [id, stageFindings]))
  const stageProblems = await dateFindings(queries, 'stage', ofStages, now)
  return groups.flatMap((group) => {
    const status = statuses.get(group.id)
    if (!status) return []
    const stage = stages.get(group.id)
    const { stageStates: agentStates } = status
    const staged = stage
      ? { ...stage, agentStates, problems: stageProblems.get(group.id) ?? [] }
      : null
    return [{ group, status, problems: problems.get(group.id) ?? [], staged }]
  })
}

type GroupBody = UpdateBody<typeof vclGroup.fields>

export async function createGroup(
  service: StateService,
  actor: Actor,
  wanted: CreateBody<typeof vclGroup.fields>,
): Promise<GroupView> {
  const { store } = service
  const owner = await chooseOwner(store.queries, actor, wanted.organization, 'vclgroup')
  const made = await mergeFields(service, owner, wanted)
  const cacheKey = randomBytes(16).toString('hex')
  const id = await withUniqueName(made.name, 'vclgroup', () =>
    store.transaction((queries) =>
      insertGroup(queries, { organizationId: owner, cacheKey }, made, service.now()),
    ),
  )
  return viewGroupAgain(service, actor, id)
}

export async function updateGroup(
  service: StateService,
  actor: Actor,
  group: GroupRecord,
  change: GroupBody,
): Promise<GroupView> {
  const before = toFields(group)
  const changed = await mergeFields(service, group.organizationId, change, before)
  if (!isSame(changed, before))
    await withUniqueName(changed.name, 'vclgroup', () =>
      service.store.decide((queries) => updateGroupRow(queries, group.id, changed, service.now())),
    )
  return viewGroupAgain(service, actor, group.id)
}

export async function deleteGroup(service: StateService, group: GroupRecord): Promise<void> {
  await service.store.decide(async (queries) => {
    await requireUndeployed(queries, group.id)
    await deleteGroupRow(queries, group.id)
  })
}

/** Throws 'conflict' while it is deployed or staged, or still being added to or removed from a cache. */
export async function requireUndeployed(queries: Queries, id: number): Promise<void> {
  const [now] = await readGroups(queries, { kind: 'all' }, { ids: [id] })
  if (now?.deployed === true)
    throw new FleetError('conflict', 'vclgroup', 'it is deployed; undeploy it first')
  if (await findStage(queries, id))
    throw new FleetError('conflict', 'vclgroup', 'it is staged; promote or delstage it first')
  const isBusy =
    (await readDeploys(queries, [id])).length > 0 ||
    (await readPlacements(queries, { groupIds: [id] })).length > 0
  if (isBusy)
    throw new FleetError(
      'conflict',
      'vclgroup',
      'it is on its way to or from caches; try again when that has ended',
    )
}

function toFields(group: GroupRecord): GroupFields {
  const { name, root, keepOnFailure, requireTests, releases, rollout } = group
  const { mainFile, mainFileVersion, managedBy } = group
  return {
    name,
    root,
    keepOnFailure,
    requireTests,
    releases,
    rollout,
    mainFileId: mainFile?.id ?? null,
    mainFileVersion,
    includeIds: group.includes.map(({ id }) => id),
    testIds: group.tests.map(({ id }) => id),
    domainIds: group.domains.map(({ id }) => id),
    deploymentIds: group.deployments.map(({ id }) => id),
    managedBy,
  }
}

async function mergeFields(
  service: StateService,
  owner: number | null,
  body: GroupBody,
  before?: GroupFields,
): Promise<GroupFields> {
  const fields = mergeWritten(vclGroup, body, before)
  const main = body.mainVCL
    ? await requireMain(service, owner, { main: body.mainVCL, errorKey: 'vclgroup' })
    : before
  const requireIds = async (
    key: 'includes' | 'tests' | 'domains' | 'deployments',
    table: 'files' | 'domains' | 'deployments',
    kept: readonly number[] = [],
  ) => {
    const given = body[key]
    if (given === undefined) return kept
    return requireAll(given ?? [], key, 'vclgroup', (ids) =>
      readUsableIds(service.store.queries, table, owner, ids),
    )
  }
  const includeIds = await requireIds('includes', 'files', before?.includeIds)
  const domainIds = await requireIds('domains', 'domains', before?.domainIds)
  const { rollout } = body
  return {
    ...fields,
    ...(rollout && {
      rollout: await requirePolicy(service.store.queries, rollout, {
        organizationId: owner,
        errorKey: 'vclgroup',
        fqdns: (await readDomainNames(service.store.queries, domainIds)).map(({ fqdn }) => fqdn),
      }),
    }),
    root: requireRoot(body, domainIds.length),
    mainFileId: main?.mainFileId ?? null,
    mainFileVersion: main?.mainFileVersion ?? null,
    includeIds,
    testIds: await requireTests(service, await requireIds('tests', 'files', before?.testIds)),
    domainIds,
    deploymentIds: await requireIds('deployments', 'deployments', before?.deploymentIds),
  }
}

/** Throws 'invalid' for files of another type. */
async function requireTests(
  { store }: StateService,
  ids: readonly number[],
): Promise<readonly number[]> {
  if (ids.length === 0) return ids
  const others = await readFilesOfOtherType(store.queries, ids, fileTypes.test)
  if (others.length === 0) return ids
  const names = others.map((name) => JSON.stringify(name)).join(', ')
  const message = `tests: ${names} ${others.length === 1 ? 'is' : 'are'} not of fileType 4 (test of VCL)`
  throw new FleetError('invalid', 'vclgroup', message)
}

/** A given `root` must match the domains (docs/behaviour.md, Root and domains). */
function requireRoot({ root }: GroupBody, domains: number): boolean {
  if (root === true && domains > 0)
    throw new FleetError(
      'invalid',
      'vclgroup',
      'root is true, and the group has domains; without domains it is true, with some it is false',
    )
  if (root === false && domains === 0)
    throw new FleetError(
      'invalid',
      'vclgroup',
      'root is false, and the group has no domains; give it one, or leave root out',
    )
  return domains === 0
}

/** Throws 'invalid' if the file or its version does not exist. */
export async function requireMain(
  service: StateService,
  owner: number | null,
  { main, errorKey }: { readonly main: ReferenceBody; readonly errorKey: ErrorKey },
): Promise<MainFile> {
  const { queries } = service.store
  const [mainFileId] = await requireAll([main], 'mainVCL', errorKey, (ids) =>
    readUsableIds(queries, 'files', owner, ids),
  )
  if (mainFileId === undefined) throw referencesNotFound('mainVCL', [main.id], errorKey)
  const mainFileVersion = main.version ?? null
  if (mainFileVersion !== null && !(await findVersion(queries, mainFileId, mainFileVersion)))
    throw new FleetError(
      'invalid',
      errorKey,
      `mainVCL: version ${mainFileVersion} of file ${mainFileId} was not found`,
    )
  return { mainFileId, mainFileVersion }
}
