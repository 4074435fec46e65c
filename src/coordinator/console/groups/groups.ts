/**
 * Groups of the console: VCL groups with `root` whose caches are listed one by one (docs/behaviour.md, Console groups). They use
 * the controller's deploys, bans and placement; root groups of the controller are listed but not changed.
 */
import { randomBytes } from 'node:crypto'
import { seesGroup } from '../../../resources/console-role.js'
import { parseName } from '../../../resources/names.js'
import type { Actor } from '../../../resources/permission.js'
import { FleetError } from '../../../errors.js'
import {
  insertConsoleGroup,
  readConsoleGroups,
  updateConsoleGroup,
  type ConsoleGroupChange,
  type ConsoleGroupFields,
  type ConsoleGroupRecord,
} from './group-queries.js'
import { readAgentsOfGroups } from '../../fleet/group-members.js'
import type { Queries } from '../../store/store.js'
import { deleteGroup as deleteGroupRow } from '../../fleet/group-queries.js'
import { requireUndeployed } from '../../groups/groups.js'
import { withUniqueName } from '../../api/find-references.js'
import { ownerOf } from '../../store/scope.js'
import { scopeOf, type StateService } from '../../service.js'

export interface ConsoleGroup extends ConsoleGroupRecord {
  /** Of its caches, by id. */
  readonly agentIds: readonly number[]
}

/** The groups that the caller sees, by id. */
export async function listGroups(service: StateService, actor: Actor): Promise<ConsoleGroup[]> {
  const { queries } = service.store
  const groups = await readConsoleGroups(queries, scopeOf(actor))
  return withAgents(
    queries,
    groups.filter(({ id }) => seesGroup(actor, id)),
  )
}

/** Undefined if it does not exist or the caller may not see it. */
export async function findGroup(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<ConsoleGroup | undefined> {
  if (!seesGroup(actor, id)) return undefined
  const { queries } = service.store
  const [group] = await withAgents(
    queries,
    await readConsoleGroups(queries, scopeOf(actor), { id }),
  )
  return group
}

/** Without caches, VCL and parameters, which have their own calls. */
export async function createGroup(
  service: StateService,
  actor: Actor,
  wanted: ConsoleGroupChange & Pick<ConsoleGroupFields, 'name'>,
): Promise<ConsoleGroup> {
  const { store } = service
  const fields: ConsoleGroupFields = {
    name: parseName(wanted.name, 'group'),
    description: wanted.description ?? '',
    overviewGroup: wanted.overviewGroup ?? false,
  }
  const organizationId = ownerOf(scopeOf(actor))
  const cacheKey = randomBytes(16).toString('hex')
  const id = await withUniqueName(fields.name, 'group', () =>
    store.transaction((queries) =>
      insertConsoleGroup(queries, { organizationId, cacheKey }, fields, service.now()),
    ),
  )
  return readAgain(service, actor, id)
}

export async function updateGroup(
  service: StateService,
  actor: Actor,
  group: ConsoleGroup,
  change: ConsoleGroupChange,
): Promise<ConsoleGroup> {
  requireConsoleGroup(group)
  const name = change.name === undefined ? group.name : parseName(change.name, 'group')
  await withUniqueName(name, 'group', () =>
    service.store.transaction((queries) =>
      updateConsoleGroup(queries, group.id, change, service.now()),
    ),
  )
  return readAgain(service, actor, group.id)
}

/** Throws 'conflict' naming what to take out of it first. */
export async function deleteGroup(service: StateService, group: ConsoleGroup): Promise<void> {
  requireConsoleGroup(group)
  await service.store.decide(async (queries) => {
    const [now] = await withAgents(
      queries,
      await readConsoleGroups(queries, { kind: 'all' }, { id: group.id }),
    )
    if (now) requireUnrelated(now)
    await requireUndeployed(queries, group.id)
    await deleteGroupRow(queries, group.id)
  })
}

/** Throws 'conflict' for a group of the controller, whose relations are changed there. */
export function requireConsoleGroup({ console, name }: ConsoleGroupRecord): void {
  if (!console)
    throw new FleetError(
      'conflict',
      'group',
      `${JSON.stringify(name)} is a VCL group of the controller: it is changed there (/api/v1/vclgroups), and only shown here`,
    )
}

function requireUnrelated({ agentIds, mainFileId, paramSetId }: ConsoleGroup): void {
  const related = [
    ...(agentIds.length > 0 ? [`${agentIds.length} cache${agentIds.length === 1 ? '' : 's'}`] : []),
    ...(mainFileId === null ? [] : ['a VCL']),
    ...(paramSetId === null ? [] : ['a parameter set']),
  ]
  if (related.length > 0)
    throw new FleetError('conflict', 'group', `it has ${related.join(', ')}; take them out first`)
}

async function withAgents(
  queries: Queries,
  groups: readonly ConsoleGroupRecord[],
): Promise<ConsoleGroup[]> {
  const ids = groups.map(({ id }) => id)
  const agents = await readAgentsOfGroups(queries, ids)
  return groups.map((group) => ({ ...group, agentIds: agents.get(group.id) ?? [] }))
}

async function readAgain(service: StateService, actor: Actor, id: number): Promise<ConsoleGroup> {
  const group = await findGroup(service, actor, id)
  if (!group) throw new FleetError('not-found', 'group', 'the group was not found')
  return group
}
