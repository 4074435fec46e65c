/** What the answers of a cache mean to people: values in, values out. */
import type { Agent } from '../../../resources/agent.js'
import type { Backend, Health, Parameter } from '../../api/engine.js'
import type { Whoami } from '../../../resources/session.js'

/** A shared cache is changed by the system administrator only. */
export function isOwn({ organization }: Pick<Agent, 'organization'>, who: Whoami): boolean {
  return who.organization === null || organization?.id === who.organization.id
}

/** Running or Failing; one that is away, locked or only retrieves takes no changes. */
export function isReachable({ state }: Pick<Agent, 'state'>): boolean {
  return state === 1 || state === 2
}

/** By the group's id, where the VCL is one of a group; else by its name in VCL, which means every VCL. */
export function nameForHealth(backend: string): string {
  const dot = backend.indexOf('.')
  const [vcl, name] = [backend.slice(0, dot), backend.slice(dot + 1)]
  const [, group] = /^cf-([1-9]\d*)-/.exec(vcl) ?? []
  return group === undefined ? name : `${group}.${name}`
}

/** What was set. Without a probe a cache answers `healthy` for `auto` too, and both mean the same. */
export function readHealthSet({ adminHealth, total }: Backend): Health {
  if (adminHealth === 'sick') return 'sick'
  return adminHealth === 'healthy' && total > 0 ? 'healthy' : 'auto'
}

export interface ParameterRow extends Parameter {
  readonly id: string
  readonly isChanged: boolean
}

export function toParameterRows(
  parameters: Readonly<Record<string, Parameter>>,
): readonly ParameterRow[] {
  return Object.entries(parameters).map(([id, parameter]) => ({
    ...parameter,
    id,
    // It is `on` or `off`: the unit adds nothing.
    unit: parameter.unit === 'bool' ? '' : parameter.unit,
    isChanged: parameter.value !== parameter.default,
  }))
}

/** `text` in lower case. */
export function filterParameters(
  rows: readonly ParameterRow[],
  { text, isChanged }: { readonly text: string; readonly isChanged: boolean },
): readonly ParameterRow[] {
  return rows.filter(
    (row) =>
      (!isChanged || row.isChanged) &&
      (row.id.includes(text) || row.description.toLowerCase().includes(text)),
  )
}

/** What the field of one parameter should become: null is its default. */
export function toUndoValue({ value, isChanged }: ParameterRow): string | null {
  return isChanged ? value : null
}

/** The cache breaks its lines at 72 characters: here they end where the paragraph does. */
export function joinLines(description: string): string {
  return description.replace(/(\S)[ \t]*\n(?=\w)/g, '$1 ')
}
