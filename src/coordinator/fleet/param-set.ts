/**
 * Sets of common parameters for the caches of a group (docs/behaviour.md, Console parameters): their permitted content,
 * the users who may see and change them, and how they combine with parameters set on the cache itself.
 */
import { seesGroup } from '../../resources/console-role.js'
import { isSettableParameter } from '../../vcl/engine-command.js'
import { findParamProblem, type DesiredParam } from '../../vcl/engine-settings.js'
import type { Actor } from '../../resources/permission.js'

/** By the parameter's name. */
export type ParamValues = Readonly<Record<string, string>>

/** A cache release has some hundred parameters. */
const maxParams = 200
/** Characters of all names and values together, so that one response can hold a list of all sets. */
const maxParamsLength = 16_384

/** Returns why this is not a valid set, and what would be; null if it is. Only the cache knows which parameters it has. */
export function findParamValuesProblem(params: ParamValues): string | null {
  const entries = Object.entries(params)
  if (entries.length > maxParams)
    return `params has ${entries.length} parameters; at most ${maxParams} are allowed`
  const length = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (length > maxParamsLength)
    return `params has ${length} characters; at most ${maxParamsLength} are allowed; make several sets`
  for (const [name, value] of entries) {
    if (!isSettableParameter(name)) return `params: ${name} may not be changed by anyone`
    const problem = findParamProblem(name, value)
    if (problem !== null) return `params.${name.slice(0, 80)}: ${problem}`
  }
  return null
}

/** Sorted by name: the group's parameters, overridden and extended by those set on the cache itself. */
export function composeParams(
  common: ParamValues,
  own: readonly DesiredParam[],
): readonly DesiredParam[] {
  const values = new Map(Object.entries(common))
  for (const { name, value } of own) values.set(name, value)
  return [...values]
    .map(([name, value]): DesiredParam => ({ name, value }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** A set's owner and the groups that use it. */
interface ParamSetUse {
  readonly organizationId: number | null
  readonly groupIds: readonly number[]
}

/** Besides the sets of its groups a user sees unused sets, because it may choose one of them. */
export function seesParamSet(actor: Actor, { organizationId, groupIds }: ParamSetUse): boolean {
  if (!actor.console) return false
  if (actor.console.groupIds === null) return true
  if (organizationId !== actor.organizationId) return false
  return groupIds.length === 0 || groupIds.some((id) => seesGroup(actor, id))
}

/** A change affects all groups that use the set, so the caller needs access to all of them. */
export function mayChangeParamSet(actor: Actor, set: ParamSetUse): boolean {
  return seesParamSet(actor, set) && set.groupIds.every((id) => seesGroup(actor, id))
}
