/**
 * VCL groups as the API lists, reads, makes and changes them. What is written here takes effect at the next deploy
 * (choices: 3, Placement); the verbs are in deploy.ts, undeploy.ts and validate.ts.
 */
import { randomBytes } from 'node:crypto'
import { parseListQuery } from '../../resources/list-query.js'
import { parseName } from '../../resources/names.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError, type ErrorKey } from '../../errors.js'
import { readDeploys } from '../fleet/deploy-queries.js'
import { findVersion } from '../files/file-queries.js'
import { groupColumns } from '../fleet/list-columns.js'
import { readOrganizationNames, readUsableIds, type NamedReference } from '../store/owner.js'
import { readPlacements } from '../fleet/placement-queries.js'
import type { Scope } from '../store/scope.js'
import { findStage } from '../fleet/stage-queries.js'
import type { Queries } from '../store/store.js'
import {
  deleteGroup as deleteGroupRow,
  findGroup as findGroupRow,
  insertGroup,
  readGroups,
  selectGroupIds,
  updateGroup as updateGroupRow,
  type GroupFields,
  type GroupRecord,
} from '../fleet/group-queries.js'
import { splitQuery, takeComputed, type ListParameters } from '../store/computed-list.js'
import { readLongList, type LongListAnswer } from '../store/long-list.js'
import { readGroupStatuses, type GroupStatus } from '../placement/group-state.js'
import type { MainFile } from './deploy-sources.js'
import {
  chooseOwner,
  mergeManagedBy,
  notThere,
  requireAll,
  withUniqueName,
  type OwnerReference,
} from '../api/find-references.js'
import { scopeOf, type StateService } from '../service.js'
import { readStageViews, type StageView } from './stage-view.js'

export type { GroupRecord } from '../fleet/group-queries.js'

/** A group with what follows from its places. */
export interface GroupView {
  readonly group: GroupRecord
  readonly organization: NamedReference | null
  readonly status: GroupStatus
  /** Null: nothing is staged. */
  readonly staged: StageView | null
}

const fields = {
  ...groupColumns,
  state: { type: 'number' },
  stateName: { type: 'text' },
} as const

export const groupListFields = Object.keys(fields)

export async function listGroups(
  service: StateService,
  actor: Actor,
  query: ListParameters,
): Promise<LongListAnswer<GroupView>> {
  const { queries } = service.store
  const scope = scopeOf(actor)
  const list = parseListQuery(query, fields, 'vclgroup')
  const split = splitQuery(list, (field) => field === 'state' || field === 'stateName')
  const stored = await readLongList(
    selectGroupIds(queries, scope),
    split.stored,
    groupColumns,
    async (rows) => viewGroups(service, await readListedGroups(queries, scope, rows)),
  )
  return takeComputed(split, stored, ({ status }, field) =>
    field === 'state' ? status.state : status.stateName,
  )
}

async function readListedGroups(
  queries: Queries,
  scope: Scope,
  rows: readonly { readonly id: number }[],
): Promise<GroupRecord[]> {
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return [] // PostgreSQL has no empty `in ()`
  const groups = await readGroups(queries, scope, { ids })
  const byId = new Map(groups.map((group) => [group.id, group]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

export async function findGroup(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<GroupRecord | undefined> {
  return findGroupRow(service.store.queries, scopeOf(actor), id)
}

export async function viewGroup(service: StateService, group: GroupRecord): Promise<GroupView> {
  const [view] = await viewGroups(service, [group])
  if (!view) throw new Error('one group has one view')
  return view
}

/** As it is now; throws 'not-found'. */
export async function viewGroupAgain(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<GroupView> {
  const group = await findGroup(service, actor, id)
  if (!group) throw new FleetError('not-found', 'vclgroup', `${id} was not found`)
  return viewGroup(service, group)
}

async function viewGroups(
  service: StateService,
  groups: readonly GroupRecord[],
): Promise<GroupView[]> {
  const statuses = await readGroupStatuses(service, groups)
  const owners = groups.flatMap(({ organizationId }) => organizationId ?? [])
  const names = await readOrganizationNames(service.store.queries, owners)
  const stages = await readStageViews(
    service,
    groups.map(({ id }) => id),
  )
  return groups.flatMap((group) => {
    const status = statuses.get(group.id)
    const id = group.organizationId
    const organization = id === null ? null : { id, name: names.get(id) ?? '' }
    const staged = stages.get(group.id) ?? null
    return status ? [{ group, organization, status, staged }] : []
  })
}

type Reference = { readonly id: number }

/** As a body has it: a key that is left out keeps its value, null resets it. */
export interface GroupChange {
  readonly name?: string | undefined
  /** Follows the domains: a group without any is a root group. */
  readonly root?: boolean | null | undefined
  readonly keepOnFailure?: boolean | null | undefined
  /** Without a version: the newest at each deploy. */
  readonly mainVCL?: (Reference & { readonly version?: number | null | undefined }) | undefined
  readonly includes?: readonly Reference[] | null | undefined
  readonly domains?: readonly Reference[] | null | undefined
  readonly deployments?: readonly Reference[] | null | undefined
  readonly managedBy?: string | null | undefined
}

interface NewGroup extends GroupChange {
  readonly name: string
  readonly mainVCL: NonNullable<GroupChange['mainVCL']>
  readonly organization?: OwnerReference
}

export async function createGroup(
  service: StateService,
  actor: Actor,
  wanted: NewGroup,
): Promise<GroupView> {
  const { store } = service
  const owner = await chooseOwner(store.queries, actor, wanted.organization, 'vclgroup')
  const made = await mergeFields(service, owner, emptyFields, wanted)
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
  change: GroupChange,
): Promise<GroupView> {
  const before: GroupFields = {
    name: group.name,
    root: group.root,
    keepOnFailure: group.keepOnFailure,
    mainFileId: group.mainFile?.id ?? null,
    mainFileVersion: group.mainFileVersion,
    includeIds: group.includes.map(({ id }) => id),
    domainIds: group.domains.map(({ id }) => id),
    deploymentIds: group.deployments.map(({ id }) => id),
    managedBy: group.managedBy,
  }
  const changed = await mergeFields(service, group.organizationId, before, change)
  if (JSON.stringify(changed) !== JSON.stringify(before))
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

/** Throws 'conflict' while it is deployed or staged, or still on its way to or from a cache (choices: 3, DELETE). */
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

const emptyFields: GroupFields = {
  name: '',
  root: true,
  keepOnFailure: true,
  mainFileId: 0,
  mainFileVersion: null,
  includeIds: [],
  domainIds: [],
  deploymentIds: [],
  managedBy: null,
}

async function mergeFields(
  service: StateService,
  owner: number | null,
  before: GroupFields,
  change: GroupChange,
): Promise<GroupFields> {
  const { queries } = service.store
  const main = change.mainVCL
    ? await requireMain(service, owner, { main: change.mainVCL, errorKey: 'vclgroup' })
    : before
  const includeIds = await requireAll(change.includes ?? [], 'includes', 'vclgroup', (ids) =>
    readUsableIds(queries, 'files', owner, ids),
  )
  const domainIds =
    change.domains === undefined
      ? before.domainIds
      : await requireAll(change.domains ?? [], 'domains', 'vclgroup', (ids) =>
          readUsableIds(queries, 'domains', owner, ids),
        )
  const deploymentIds = await requireAll(
    change.deployments ?? [],
    'deployments',
    'vclgroup',
    (ids) => readUsableIds(queries, 'deployments', owner, ids),
  )
  return {
    name: change.name === undefined ? before.name : parseName(change.name, 'vclgroup'),
    root: requireRoot(change, domainIds.length),
    keepOnFailure:
      change.keepOnFailure === undefined ? before.keepOnFailure : (change.keepOnFailure ?? true),
    mainFileId: main.mainFileId,
    mainFileVersion: main.mainFileVersion,
    includeIds: change.includes === undefined ? before.includeIds : includeIds,
    domainIds,
    deploymentIds: change.deployments === undefined ? before.deploymentIds : deploymentIds,
    managedBy: mergeManagedBy(before, change.managedBy, 'vclgroup'),
  }
}

/** What is said of root must fit the domains (choices: 3, What is loaded). */
function requireRoot({ root }: GroupChange, domains: number): boolean {
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

/** Throws 'invalid' when the file or its version is not there. */
export async function requireMain(
  service: StateService,
  owner: number | null,
  {
    main,
    errorKey,
  }: { readonly main: NonNullable<GroupChange['mainVCL']>; readonly errorKey: ErrorKey },
): Promise<MainFile> {
  const { queries } = service.store
  const [mainFileId] = await requireAll([main], 'mainVCL', errorKey, (ids) =>
    readUsableIds(queries, 'files', owner, ids),
  )
  if (mainFileId === undefined) throw notThere('mainVCL', [main.id], errorKey)
  const mainFileVersion = main.version ?? null
  if (mainFileVersion !== null && !(await findVersion(queries, mainFileId, mainFileVersion)))
    throw new FleetError(
      'invalid',
      errorKey,
      `mainVCL: version ${mainFileVersion} of file ${mainFileId} was not found`,
    )
  return { mainFileId, mainFileVersion }
}
