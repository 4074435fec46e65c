/** Parameter sets, which users create, change and delete; changes reach the caches of their groups at once. */
import type { Context } from '../../../context.js'
import { parseName } from '../../../resources/names.js'
import {
  findParamValuesProblem,
  mayChangeParamSet,
  seesParamSet,
  type ParamValues,
} from '../../fleet/param-set.js'
import type { Actor } from '../../../resources/permission.js'
import { FleetError } from '../../../errors.js'
import { recomposeDesired } from '../../fleet/desired-states.js'
import { readAgentsOfGroups } from '../../fleet/group-members.js'
import {
  countParamSets,
  insertParamSet,
  readGroupsWithParamSet,
  readParamSets,
  updateParamSet,
  type ParamSetFields,
  type ParamSetRecord,
} from '../../fleet/paramset-queries.js'
import type { Queries } from '../../store/store.js'
import { deleteRow } from '../../store/write-rows.js'
import { notifyAgentsChanged, notifyDesiredChanged } from '../../agents/agent-hints.js'
import { deleteUnused, usersNamed, withUniqueName } from '../../api/find-references.js'
import { scopeOf, type StateService } from '../../service.js'

export type { ParamSetRecord } from '../../fleet/paramset-queries.js'

const errorKey = 'paramset'
/** Per organization. */
const maxSets = 200

/** As in a body: an absent key keeps its value. */
interface ParamSetChange {
  readonly name?: string | undefined
  readonly description?: string | undefined
  /** The whole set: absent parameters are removed. */
  readonly params?: ParamValues | undefined
}

interface NewParamSet extends ParamSetChange {
  readonly name: string
}

/** By id. */
export async function listParamSets(
  service: StateService,
  actor: Actor,
): Promise<ParamSetRecord[]> {
  const sets = await readParamSets(service.store.queries, scopeOf(actor))
  return sets.filter((set) => seesParamSet(actor, set))
}

/** Undefined if it does not exist or the caller may not see it. */
export async function findParamSet(
  queries: Queries,
  actor: Actor,
  id: number,
): Promise<ParamSetRecord | undefined> {
  const [set] = await readParamSets(queries, scopeOf(actor), { id })
  return set && seesParamSet(actor, set) ? set : undefined
}

/** Throws FleetError: 'invalid', and 'conflict' for a name that is taken or when there are too many. */
export async function createParamSet(
  service: StateService,
  actor: Actor,
  wanted: NewParamSet,
): Promise<ParamSetRecord> {
  const fields = mergeFields({ name: wanted.name, description: '', params: {} }, wanted)
  const owner = actor.organizationId
  return withUniqueName(fields.name, errorKey, () =>
    service.store.transaction(async (queries) => {
      if ((await countParamSets(queries, owner)) >= maxSets)
        throw new FleetError(
          'conflict',
          errorKey,
          `there are ${maxSets} parameter sets, which is the most; delete some`,
        )
      const id = await insertParamSet(queries, owner, fields, service.now())
      return readAgain(queries, actor, id)
    }),
  )
}

/** Throws FleetError: as createParamSet, and 'forbidden' for a set that other groups have too. */
export async function changeParamSet(
  service: StateService,
  { context, actor }: { readonly context: Context; readonly actor: Actor },
  { id }: ParamSetRecord,
  change: ParamSetChange,
): Promise<ParamSetRecord> {
  const name = change.name ?? ''
  const { set, changed } = await withUniqueName(name, errorKey, () =>
    service.store.decide(async (queries) => {
      const before = await readAgain(queries, actor, id)
      requireMayChange(actor, before)
      const fields = mergeFields(before, change)
      await updateParamSet(queries, id, fields, service.now())
      const members = await readAgentsOfGroups(queries, before.groupIds)
      return {
        changed: await recomposeDesired(queries, [...members.values()].flat()),
        set: await readAgain(queries, actor, id),
      }
    }),
  )
  notifyDesiredChanged(service, changed, context.traceId)
  notifyAgentsChanged(service, changed)
  return set
}

/** Throws FleetError: 'conflict' naming the groups that use it, 'forbidden' as above. */
export async function deleteParamSet(
  { store }: StateService,
  actor: Actor,
  set: ParamSetRecord,
): Promise<void> {
  requireMayChange(actor, set)
  await deleteUnused(
    'group',
    errorKey,
    () => readGroupsWithParamSet(store.queries, set.id, usersNamed),
    () => store.transaction((queries) => deleteRow(queries, 'paramSets', set.id)),
  )
}

function mergeFields(before: ParamSetFields, change: ParamSetChange): ParamSetFields {
  const { name = before.name, description = before.description, params = before.params } = change
  const problem = findParamValuesProblem(params)
  if (problem !== null) throw new FleetError('invalid', errorKey, problem)
  return { name: parseName(name, errorKey), description, params }
}

function requireMayChange(actor: Actor, set: ParamSetRecord): void {
  if (mayChangeParamSet(actor, set)) return
  throw new FleetError(
    'forbidden',
    errorKey,
    'groups that are not yours have this set too: an administrator may change it, or make one of your own',
  )
}

async function readAgain(queries: Queries, actor: Actor, id: number): Promise<ParamSetRecord> {
  const set = await findParamSet(queries, actor, id)
  if (set) return set
  throw new FleetError('not-found', errorKey, 'the parameter set was not found')
}
