/** Sets the parameter set of a group: its caches receive it, and return to their defaults when it is removed. */
import type { Context } from '../../../context.js'
import type { Actor } from '../../../resources/permission.js'
import { FleetError } from '../../../errors.js'
import { readConsoleGroups, touchConsoleGroup, type ConsoleGroupRecord } from './group-queries.js'
import { recomposeDesired } from '../../fleet/desired-states.js'
import { readAgentsOfGroups } from '../../fleet/group-members.js'
import { relateParamSet } from '../../fleet/paramset-queries.js'
import type { Queries } from '../../store/store.js'
import { notifyAgentsChanged, notifyDesiredChanged } from '../../agents/agent-hints.js'
import type { StateService } from '../../service.js'
import { requireConsoleGroup } from './groups.js'
import { findParamSet } from '../paramsets/paramsets.js'

/** Both ids come from a path. */
interface ParamSetRelation {
  readonly group: ConsoleGroupRecord
  readonly paramSetId: number
}

/** Replaces the present set. Throws 'not-found', and 'conflict' for a set of another owner. */
export async function giveParamSet(
  service: StateService,
  { context, actor }: { readonly context: Context; readonly actor: Actor },
  { group, paramSetId }: ParamSetRelation,
): Promise<void> {
  requireConsoleGroup(group)
  await changeRelation(service, context, group.id, async (queries, now) => {
    const set = await findParamSet(queries, actor, paramSetId)
    if (!set) throw new FleetError('not-found', 'paramset', 'the parameter set was not found')
    if (set.organizationId !== now.organizationId)
      throw new FleetError(
        'conflict',
        'group',
        'the parameter set is of another organization than the group; make one there',
      )
    return paramSetId
  })
}

/** Throws 'not-found' if the group has another set, or none. */
export async function takeParamSet(
  service: StateService,
  context: Context,
  { group, paramSetId }: ParamSetRelation,
): Promise<void> {
  requireConsoleGroup(group)
  await changeRelation(service, context, group.id, (_, now) => {
    if (now.paramSetId === paramSetId) return Promise.resolve(null)
    throw new FleetError('not-found', 'group', 'the group does not have this parameter set')
  })
}

/** `decide` returns the set that the group has afterwards. */
async function changeRelation(
  service: StateService,
  context: Context,
  groupId: number,
  decide: (queries: Queries, now: ConsoleGroupRecord) => Promise<number | null>,
): Promise<void> {
  const changed = await service.store.decide(async (queries) => {
    const [now] = await readConsoleGroups(queries, { kind: 'all' }, { id: groupId })
    if (!now) throw new FleetError('not-found', 'group', 'the group was not found')
    const wanted = await decide(queries, now)
    if (wanted === now.paramSetId) return []
    await relateParamSet(queries, groupId, wanted)
    await touchConsoleGroup(queries, groupId, service.now())
    const members = await readAgentsOfGroups(queries, [groupId])
    return recomposeDesired(queries, members.get(groupId) ?? [])
  })
  notifyDesiredChanged(service, changed, context.traceId)
  notifyAgentsChanged(service, changed)
}
