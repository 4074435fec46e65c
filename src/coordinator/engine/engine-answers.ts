/** What agents answer to questions about their cache, checked: an agent may be of another version, or not ours. */
import type { Parameter } from '../../messages/answers.js'
import { readParameter, requireRecord, requireText, unknownForm } from './setting-answers.js'

/** Throws FleetError 'unavailable', as all here. */
export function readNamedRows(
  value: unknown,
): readonly (Readonly<Record<string, unknown>> & { readonly name: string })[] {
  if (!Array.isArray(value)) throw unknownForm()
  return value.map((row) => {
    const record = requireRecord(row)
    return { ...record, name: requireText(record['name']) }
  })
}

export interface VclRow {
  readonly name: string
  /** active | available */
  readonly status: string
  /** References; null while the child does not run. */
  readonly busy: number | null
  /** The VCL that a label stands for. */
  readonly label: string | null
}

/** Of the question `vcls`. */
export function readVclRows(value: unknown): readonly VclRow[] {
  return readNamedRows(value).map(({ name, status, busy, label }) => ({
    name,
    status: requireText(status),
    busy: typeof busy === 'number' ? busy : null,
    label: typeof label === 'string' ? label : null,
  }))
}

/** Of the question `params`, by name. */
export function readParameterSet(value: unknown): ReadonlyMap<string, Parameter> {
  return new Map(
    Object.entries(requireRecord(value)).map(([name, shown]) => [name, readParameter(shown)]),
  )
}
