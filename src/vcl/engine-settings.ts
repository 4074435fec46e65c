/**
 * Parameters and backend health as desired state (docs/behaviour.md, Cache settings), in the terms of the API and the agent link. A rule
 * selects VCLs by group, so that it also applies to every later load of that group.
 */
import { Type } from 'typebox'
import { list, orNull, text, whole, type Fitting } from '../resources/json-fields.js'

/** Per agent. */
const maxSettings = 10_000
const maxGroups = 10_000

export const desiredParam = Type.Object({
  name: text,
  /** As the caller wrote it; the cache prints it in its own form. */
  value: text,
})
export type DesiredParam = Fitting<typeof desiredParam>

/** `auto`: as probed; needed only to override a broader rule. */
const backendHealth = Type.Enum(['healthy', 'sick', 'auto'])
export type BackendHealth = Fitting<typeof backendHealth>

export const desiredHealth = Type.Object({
  /** The backend's name in VCL. */
  backend: text,
  health: backendHealth,
  /** The groups whose VCL is selected; null selects all of our VCLs, including the idle one. */
  groups: orNull(list(whole(1), maxGroups)),
})
export type DesiredHealth = Fitting<typeof desiredHealth>

/** Absent: none. A state without settings is serialized as in versions without this feature. */
export const desiredSettings = Type.Object({
  params: Type.Optional(list(desiredParam, maxSettings)),
  /** Broader rules first: the last rule that matches a VCL applies. */
  health: Type.Optional(list(desiredHealth, maxSettings)),
})
export type DesiredSettings = Fitting<typeof desiredSettings>

/** A `{name}` of the API: a backend in every VCL, or in one group's VCL. */
interface BackendSelection {
  readonly groupId: number | null
  readonly backend: string
}

/** A name that the compiler accepts, no longer than a counter's name. */
const selectionPattern = /^(?:([1-9][0-9]{0,15})\.)?([A-Za-z][A-Za-z0-9_-]{0,126})$/
/** No release has a parameter with a longer name or value. */
const paramNamePattern = /^[a-z][a-z0-9_]{0,99}$/
const paramValueLimitCharacters = 1024

/** Accepts `default`, or `12.default` for group 12 only; returns null for anything else, including patterns. */
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

/** Returns why name or value is invalid, else null. Only the cache knows whether the parameter exists. */
export function findParamProblem(name: string, value: string | null): string | null {
  // `changed` is a keyword of `param.show`.
  if (!paramNamePattern.test(name) || name === 'changed')
    return `${JSON.stringify(name.slice(0, 80))} is not a parameter: its name has lower-case letters, digits and _ only`
  if (value === null) return null
  if (value.length > paramValueLimitCharacters)
    return `value has ${value.length} characters, at most ${paramValueLimitCharacters}`
  if (/[\p{Cc}\u2028\u2029\p{Cs}]/u.test(value)) return 'value holds control characters'
  const odd = /[^\w .,:+/%-]/u.exec(value)?.[0]
  return odd === undefined
    ? null
    : `value holds ${odd}; only letters, digits, blanks and .,:+/%_- are allowed in parameters`
}

/** The group that owns one of our VCLs; null for the idle and the routing VCL, which no group owns. */
export function groupOfVcl(name: string): number | null {
  const [, group] = /^cf-([1-9][0-9]{0,15})-/.exec(name) ?? []
  return group === undefined ? null : Number(group)
}

/** The health that applies in this VCL: that of the last matching rule; undefined if none matches. */
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
  // An adopted VCL kept its name; its root group is alone on the cache.
  return group === null ? !vcl.startsWith('cf-') : groups.includes(group)
}
