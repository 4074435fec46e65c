/**
 * Sets of parameters that the caches of a group have in common (docs/behaviour.md, Console parameters): what a set may hold,
 * who sees and changes it, and what it makes of one cache's parameters beside those that were set there.
 */
import { seesGroup } from '../../resources/console-role.js'
import { isSettableParameter } from '../../vcl/engine-command.js'
import { findParamProblem, type DesiredParam } from '../../vcl/engine-settings.js'
import type { Actor } from '../../resources/permission.js'

/** By the parameter's name. */
export type ParamValues = Readonly<Record<string, string>>

/** A release has some hundred parameters. */
const paramsMost = 200
/** All names and values together, so that one answer can hold a list of all sets. */
const paramsLengthMost = 16_384

/** Why this cannot be a set, and what would be right; null when it can. Whether a cache has such a parameter, the cache knows. */
export function findParamValuesProblem(params: ParamValues): string | null {
  const entries = Object.entries(params)
  if (entries.length > paramsMost)
    return `params has ${entries.length} parameters, at most ${paramsMost} are right`
  const length = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (length > paramsLengthMost)
    return `params has ${length} characters, at most ${paramsLengthMost} are right; make several sets`
  for (const [name, value] of entries) {
    if (!isSettableParameter(name)) return `params: ${name} may not be changed by anyone`
    const problem = findParamProblem(name, value)
    if (problem !== null) return `params.${name.slice(0, 80)}: ${problem}`
  }
  return null
}

/** By name: the group's, and in their place or beside them what was set on the cache itself. */
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

/** Whose a set is and where it is in use. */
interface ParamSetUse {
  readonly organizationId: number | null
  readonly groupIds: readonly number[]
}

/** Besides the sets of its groups a user sees those of no group, since it may choose one of them. */
export function seesParamSet(actor: Actor, { organizationId, groupIds }: ParamSetUse): boolean {
  if (!actor.console) return false
  if (actor.console.groupIds === null) return true
  if (organizationId !== actor.organizationId) return false
  return groupIds.length === 0 || groupIds.some((id) => seesGroup(actor, id))
}

/** A change reaches all groups that have the set, so all must be the caller's. */
export function mayChangeParamSet(actor: Actor, set: ParamSetUse): boolean {
  return seesParamSet(actor, set) && set.groupIds.every((id) => seesGroup(actor, id))
}
