/**
 * Parameters and backend health as desired state (docs/behaviour.md, Cache settings): what a cache must be set to, in the words
 * of the API and of the agent link. Whose VCL a rule means is said by group, so that it holds for every later load of that
 * group too.
 */
import { Type } from 'typebox'
import { list, orNull, text, whole, type Fitting } from '../resources/json-fields.js'

/** Of one agent. */
const settingsMost = 10_000
const groupsMost = 10_000

export const desiredParam = Type.Object({
  name: text,
  /** As the caller wrote it; the cache prints it in a form of its own. */
  value: text,
})
export type DesiredParam = Fitting<typeof desiredParam>

/** `auto`: as probed; a rule only where a broader one says otherwise. */
const backendHealth = Type.Enum(['healthy', 'sick', 'auto'])
export type BackendHealth = Fitting<typeof backendHealth>

export const desiredHealth = Type.Object({
  /** The name in VCL. */
  backend: text,
  health: backendHealth,
  /** The groups whose VCL is meant; null: every VCL of ours, the idle one too. */
  groups: orNull(list(whole(1), groupsMost)),
})
export type DesiredHealth = Fitting<typeof desiredHealth>

/** Absent: none. A state without settings is written as it was before there were any. */
export const desiredSettings = Type.Object({
  params: Type.Optional(list(desiredParam, settingsMost)),
  /** Broader rules first: of those that mean a VCL the last one counts. */
  health: Type.Optional(list(desiredHealth, settingsMost)),
})
export type DesiredSettings = Fitting<typeof desiredSettings>

/** A `{name}` of the API: a backend in every VCL, or in that of one group. */
interface BackendSelection {
  readonly groupId: number | null
  readonly backend: string
}

/** A name that the compiler accepts, at most as long as a counter's name. */
const selectionPattern = /^(?:([1-9][0-9]{0,15})\.)?([A-Za-z][A-Za-z0-9_-]{0,126})$/
/** No parameter of any release has a longer name or value. */
const paramNamePattern = /^[a-z][a-z0-9_]{0,99}$/
const paramValueLimitCharacters = 1024

/** `default`, or `12.default` for group 12 alone; null for all else, patterns among it. */
export function parseBackendSelection(name: string): BackendSelection | null {
  const [, group, backend] = selectionPattern.exec(name) ?? []
  if (backend === undefined) return null
  const groupId = group === undefined ? null : Number(group)
  return groupId === null || Number.isSafeInteger(groupId) ? { groupId, backend } : null
}

/** `probe` is the older word for `auto` (releases before 5.2). */
export function parseBackendHealth(word: string): BackendHealth | null {
  if (word === 'probe') return 'auto'
  return word === 'healthy' || word === 'sick' || word === 'auto' ? word : null
}

/** Why this cannot be a parameter with its value; null when it can: whether it is one, the cache knows. */
export function findParamProblem(name: string, value: string | null): string | null {
  // `changed` is a word of `param.show`.
  if (!paramNamePattern.test(name) || name === 'changed')
    return `${JSON.stringify(name.slice(0, 80))} is not a parameter: lower-case letters, digits and _ are right`
  if (value === null) return null
  if (value.length > paramValueLimitCharacters)
    return `value has ${value.length} characters, at most ${paramValueLimitCharacters}`
  if (/[\p{Cc}\u2028\u2029\p{Cs}]/u.test(value)) return 'value holds control characters'
  const odd = /[^\w .,:+/%-]/u.exec(value)?.[0]
  return odd === undefined
    ? null
    : `value holds ${odd}, which none of a parameter does: letters, digits, blanks and .,:+/%_- are right`
}

/** The group that a VCL of ours belongs to; null: the idle and the routing VCL, which are nobody's own. */
export function groupOfVcl(name: string): number | null {
  const [, group] = /^cf-([1-9][0-9]{0,15})-/.exec(name) ?? []
  return group === undefined ? null : Number(group)
}

/** What a rule means for this VCL: the last one that covers it; undefined when none does. */
export function findHealth(
  rules: readonly DesiredHealth[],
  vcl: string,
  backend: string,
): BackendHealth | undefined {
  return rules.findLast((rule) => rule.backend === backend && coversVcl(rule.groups, vcl))?.health
}

export function coversVcl(groups: readonly number[] | null, vcl: string): boolean {
  if (groups === null) return true
  const group = groupOfVcl(vcl)
  // A VCL that was adopted kept its name; the root group that it belongs to is alone on its cache.
  return group === null ? !vcl.startsWith('cf-') : groups.includes(group)
}
