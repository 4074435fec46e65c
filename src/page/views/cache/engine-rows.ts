/** Interprets a cache's answers for display; pure functions. */
import type { Agent } from '../../../resources/agent.js'
import type { Backend, Health, Parameter } from '../../api/engine.js'
import type { Whoami } from '../../../resources/session.js'

/** Only the system administrator can change a shared cache. */
export function isOwn({ organization }: Pick<Agent, 'organization'>, who: Whoami): boolean {
  return who.organization === null || organization?.id === who.organization.id
}

/** Running or Failing; a cache that is Down, Locked or ReadOnly accepts no changes. */
export function isReachable({ state }: Pick<Agent, 'state'>): boolean {
  return state === 1 || state === 2
}

/** Prefixes the group's id if the VCL belongs to a group; otherwise the backend's name alone selects it in every VCL. */
export function nameForHealth(backend: string): string {
  const dot = backend.indexOf('.')
  const [vcl, name] = [backend.slice(0, dot), backend.slice(dot + 1)]
  const [, group] = /^cf-([1-9]\d*)-/.exec(vcl) ?? []
  return group === undefined ? name : `${group}.${name}`
}

/** Returns the override. Without a probe a cache also reports `healthy` for `auto`; both mean the same. */
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
    // The value is `on` or `off`: the unit adds nothing.
    unit: parameter.unit === 'bool' ? '' : parameter.unit,
    isChanged: parameter.value !== parameter.default,
  }))
}

/** `text` must be in lower case. */
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

/** Returns the value that an undo sends; null resets the parameter to its default. */
export function toUndoValue({ value, isChanged }: ParameterRow): string | null {
  return isChanged ? value : null
}

/** The cache wraps lines at 72 characters; this joins each paragraph into one line. */
export function joinLines(description: string): string {
  return description.replace(/(\S)[ \t]*\n(?=\w)/g, '$1 ')
}
