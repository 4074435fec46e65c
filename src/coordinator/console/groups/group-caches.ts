/**
 * Which caches are in a group of the console. Joining a deployed group deploys to the cache, and a cache that leaves runs the idle
 * VCL: placement follows the group's members as it follows tags.
 */
import type { Context } from '../../../context.js'
import { seesGroup } from '../../../resources/console-role.js'
import type { Actor } from '../../../resources/permission.js'
import { FleetError } from '../../../errors.js'
import { findAgent, type AgentRecord } from '../../fleet/agent-queries.js'
import { readConsoleGroups, touchConsoleGroup, type ConsoleGroupRecord } from './group-queries.js'
import { recomposeDesired } from '../../fleet/desired-states.js'
import { isUsableBy } from '../../fleet/fleet.js'
import {
  deleteMember,
  insertMember,
  readControllerGroupsOn,
  readGroupsOfAgents,
  type GroupOfAgent,
} from '../../fleet/group-members.js'
import type { Queries } from '../../store/store.js'
import { notifyAgentsChanged, notifyDesiredChanged } from '../../agents/agent-hints.js'
import { requireOwner } from '../../api/find-references.js'
import { changeTargets } from '../../placement/shortfall.js'
import type { StateService } from '../../service.js'
import { requireConsoleGroup } from './groups.js'

/** The two objects of a call, both already found for the caller. */
interface Relation {
  readonly context: Context
  readonly group: ConsoleGroupRecord
  readonly agentId: number
}

/** Repeating changes nothing. Throws 'conflict' if something else holds the cache, 'forbidden' if it is only shared. */
export async function joinGroup(
  service: StateService,
  actor: Actor,
  relation: Relation,
): Promise<void> {
  const { group, agentId } = relation
  await changeMembers(service, actor, relation, async (queries) => {
    const [now] = await readConsoleGroups(queries, { kind: 'all' }, { id: group.id })
    const agent = await findAgent(queries, { kind: 'all' }, agentId)
    if (!now || !agent)
      throw new FleetError('not-found', 'group', `the ${now ? 'cache' : 'group'} was not found`)
    requireOwner(actor, agent, 'group')
    requireUsable(now, agent)
    const before = (await readGroupsOfAgents(queries, [agentId])).get(agentId)
    if (before?.console === true && before.id === group.id) return
    await requireFree(queries, actor, { before, agentId })
    await insertMember(queries, group.id, agentId)
    await touchConsoleGroup(queries, group.id, service.now())
  })
}

/** Throws 'not-found' if the cache is not in the group. */
export async function leaveGroup(
  service: StateService,
  actor: Actor,
  relation: Relation,
): Promise<void> {
  const { group, agentId } = relation
  await changeMembers(service, actor, relation, async (queries) => {
    if (!(await deleteMember(queries, group.id, agentId)))
      throw new FleetError('not-found', 'group', 'the group has no such cache')
    await touchConsoleGroup(queries, group.id, service.now())
  })
}

/** Forced: users choose the caches of a console group themselves, even none. */
async function changeMembers(
  service: StateService,
  actor: Actor,
  { context, group, agentId }: Relation,
  change: (queries: Queries) => Promise<void>,
): Promise<void> {
  requireConsoleGroup(group)
  const readGroupIds = () => Promise.resolve([])
  let changed: readonly number[] = []
  const write = async (queries: Queries): Promise<void> => {
    await change(queries)
    // The cache gains or loses the parameters of the group.
    changed = await recomposeDesired(queries, [agentId])
  }
  await changeTargets(service, { actor, errorKey: 'group', force: true, readGroupIds, write })
  notifyDesiredChanged(service, changed, context.traceId)
  notifyAgentsChanged(service, [agentId])
}

function requireUsable(group: ConsoleGroupRecord, { organization }: AgentRecord): void {
  if (!isUsableBy(group.organizationId, { organizationId: organization?.id ?? null }))
    throw new FleetError('conflict', 'group', 'the cache is of another organization than the group')
}

/** A domain group on a cache also prevents joining, since a console group is the cache's whole VCL. */
async function requireFree(
  queries: Queries,
  actor: Actor,
  { before, agentId }: { readonly before: GroupOfAgent | undefined; readonly agentId: number },
): Promise<void> {
  if (before?.console === true)
    throw new FleetError(
      'conflict',
      'group',
      `the cache is in ${nameFor(actor, before)} already; take it out there first`,
    )
  const [holder] = await readControllerGroupsOn(queries, agentId)
  if (holder)
    throw new FleetError(
      'conflict',
      'group',
      `the VCL group ${nameFor(actor, holder)} of the controller is deployed to this cache; undeploy it, or change its tags, first`,
    )
}

function nameFor(actor: Actor, group: GroupOfAgent): string {
  const isOwn = actor.organizationId === null || actor.organizationId === group.organizationId
  return isOwn && seesGroup(actor, group.id) ? JSON.stringify(group.name) : 'another group'
}
