/**
 * VCL groups as the API lists, reads, makes and changes them. What is written here takes effect at the next deploy
 * (choices: 3, Placement); the verbs are in deploy.ts, undeploy.ts and validate.ts.
 */
import { parseListQuery } from '../../domain/list-query.js'
import { parseName } from '../../domain/names.js'
import type { Actor } from '../../domain/permission.js'
import { FleetError } from '../../errors.js'
import { readUsableDeploymentIds } from '../../store/deployments.js'
import { readDeploys } from '../../store/deploys.js'
import { findVersion, readUsableFileIds } from '../../store/files.js'
import { groupColumns } from '../../store/list-columns.js'
import { readList } from '../../store/list-query.js'
import { readOrganizationNames, type NamedReference } from '../../store/owner.js'
import { readPlacements } from '../../store/placements.js'
import {
  deleteGroup as deleteGroupRow,
  findGroup as findGroupRow,
  insertGroup,
  readGroups,
  selectGroupIds,
  updateGroup as updateGroupRow,
  type GroupFields,
  type GroupRecord,
} from '../../store/vcl-groups.js'
import { splitQuery, takeComputed, type ListAnswer, type ListParameters } from './computed-list.js'
import { readGroupStatuses, type GroupStatus } from './group-state.js'
import {
  chooseOwner,
  notThere,
  requireAll,
  withUniqueName,
  type OwnerReference,
} from './references.js'
import { scopeOf, type StateService } from './service.js'

export type { GroupRecord } from '../../store/vcl-groups.js'

/** A group with what follows from its places. */
export interface GroupView {
  readonly group: GroupRecord
  readonly organization: NamedReference | null
  readonly status: GroupStatus
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
): Promise<ListAnswer<GroupView>> {
  const { queries } = service.store
  const scope = scopeOf(actor)
  const list = parseListQuery(query, fields, 'vclgroup')
  const split = splitQuery(list, (field) => field === 'state' || field === 'stateName')
  const found = await readList(selectGroupIds(queries, scope), split.stored, groupColumns)
  const ids = found.rows.map(({ id }) => id)
  if (ids.length === 0) return { rows: [], total: found.total } // PostgreSQL has no empty `in ()`
  const groups = new Map(
    (await readGroups(queries, scope, { ids })).map((group) => [group.id, group]),
  )
  const ordered = ids.flatMap((id) => groups.get(id) ?? [])
  const stored = { rows: await viewGroups(service, ordered), total: found.total }
  return takeComputed(split, stored, ({ status }, field) =>
    field === 'state' ? status.state : status.stateName,
  )
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
  return groups.flatMap((group) => {
    const status = statuses.get(group.id)
    const id = group.organizationId
    const organization = id === null ? null : { id, name: names.get(id) ?? '' }
    return status ? [{ group, organization, status }] : []
  })
}

type Reference = { readonly id: number }

/** As a body has it: a key that is left out keeps its value, null resets it. */
export interface GroupChange {
  readonly name?: string | undefined
  /** Without domains a group is a root group. */
  readonly root?: boolean | null | undefined
  readonly keepOnFailure?: boolean | null | undefined
  /** Without a version: the newest at each deploy. */
  readonly mainVCL?: (Reference & { readonly version?: number | null | undefined }) | undefined
  readonly includes?: readonly Reference[] | null | undefined
  readonly domains?: readonly Reference[] | null | undefined
  readonly deployments?: readonly Reference[] | null | undefined
}

export interface NewGroup extends GroupChange {
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
  const id = await withUniqueName(made.name, 'vclgroup', () =>
    store.transaction((queries) => insertGroup(queries, owner, made, service.now())),
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
    mainFileId: group.mainFile.id,
    mainFileVersion: group.mainFileVersion,
    includeIds: group.includes.map(({ id }) => id),
    deploymentIds: group.deployments.map(({ id }) => id),
  }
  const changed = await mergeFields(service, group.organizationId, before, change)
  if (JSON.stringify(changed) !== JSON.stringify(before))
    await withUniqueName(changed.name, 'vclgroup', () =>
      service.store.decide((queries) => updateGroupRow(queries, group.id, changed, service.now())),
    )
  return viewGroupAgain(service, actor, group.id)
}

/** Throws 'conflict' while it is deployed, or still on its way to or from a cache (choices: 3, DELETE). */
export async function deleteGroup(service: StateService, group: GroupRecord): Promise<void> {
  await service.store.decide(async (queries) => {
    const [now] = await readGroups(queries, { kind: 'all' }, { ids: [group.id] })
    if (now?.deployed === true)
      throw new FleetError('conflict', 'vclgroup', 'it is deployed; undeploy it first')
    const isBusy =
      (await readDeploys(queries, [group.id])).length > 0 ||
      (await readPlacements(queries, { groupIds: [group.id] })).length > 0
    if (isBusy)
      throw new FleetError(
        'conflict',
        'vclgroup',
        'it is on its way to or from caches; try again when that has ended',
      )
    await deleteGroupRow(queries, group.id)
  })
}

const emptyFields: GroupFields = {
  name: '',
  root: true,
  keepOnFailure: true,
  mainFileId: 0,
  mainFileVersion: null,
  includeIds: [],
  deploymentIds: [],
}

async function mergeFields(
  service: StateService,
  owner: number | null,
  before: GroupFields,
  change: GroupChange,
): Promise<GroupFields> {
  const { queries } = service.store
  requireRoot(change)
  const main = change.mainVCL ? await requireMain(service, owner, change.mainVCL) : before
  const includeIds = await requireAll(change.includes ?? [], 'includes', 'vclgroup', (ids) =>
    readUsableFileIds(queries, owner, ids),
  )
  const deploymentIds = await requireAll(
    change.deployments ?? [],
    'deployments',
    'vclgroup',
    (ids) => readUsableDeploymentIds(queries, owner, ids),
  )
  return {
    name: change.name === undefined ? before.name : parseName(change.name, 'vclgroup'),
    root: true,
    keepOnFailure:
      change.keepOnFailure === undefined ? before.keepOnFailure : (change.keepOnFailure ?? true),
    mainFileId: main.mainFileId,
    mainFileVersion: main.mainFileVersion,
    includeIds: change.includes === undefined ? before.includeIds : includeIds,
    deploymentIds: change.deployments === undefined ? before.deploymentIds : deploymentIds,
  }
}

/** Groups of this release are root groups. */
function requireRoot({ root, domains }: GroupChange): void {
  if (domains && domains.length > 0)
    throw new FleetError(
      'invalid',
      'vclgroup',
      `domains: ${domains.map(({ id }) => id).join(', ')} not found; this release has no domains`,
    )
  if (root === false)
    throw new FleetError('invalid', 'vclgroup', 'root is false; without domains it is true')
}

async function requireMain(
  service: StateService,
  owner: number | null,
  main: NonNullable<GroupChange['mainVCL']>,
): Promise<Pick<GroupFields, 'mainFileId' | 'mainFileVersion'>> {
  const { queries } = service.store
  const [mainFileId] = await requireAll([main], 'mainVCL', 'vclgroup', (ids) =>
    readUsableFileIds(queries, owner, ids),
  )
  if (mainFileId === undefined) throw notThere('mainVCL', [main.id], 'vclgroup')
  const mainFileVersion = main.version ?? null
  if (mainFileVersion !== null && !(await findVersion(queries, mainFileId, mainFileVersion)))
    throw new FleetError(
      'invalid',
      'vclgroup',
      `mainVCL: version ${mainFileVersion} of file ${mainFileId} was not found`,
    )
  return { mainFileId, mainFileVersion }
}
