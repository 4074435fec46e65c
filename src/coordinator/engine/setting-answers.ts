/** What agents answer when they are told to set something, checked: an agent may be of another version, or not ours. */
import { FleetError } from '../../errors.js'
import type { Parameter } from '../../messages/answers.js'

export interface Refused {
  /** The engine's words. */
  readonly refusal: string
}

export interface ParamNow {
  readonly parameter: Parameter
  /** What the cache remarks, mostly nothing. */
  readonly note: string
}

/** Of a ParamAnswer. Throws FleetError 'unavailable' for anything else. */
export function readParamAnswer(answer: unknown): ParamNow | Refused {
  const refused = readRefusal(answer)
  if (refused) return refused
  const { parameter, note } = requireRecord(answer)
  return { note: requireText(note), parameter: readParameter(parameter) }
}

/** All four are texts. Throws as above. */
export function readParameter(answer: unknown): Parameter {
  const { value, default: standard, unit, description } = requireRecord(answer)
  return {
    value: requireText(value),
    default: requireText(standard),
    unit: requireText(unit),
    description: requireText(description),
  }
}

/** Of a HealthAnswer. Throws as above. */
export function readHealthAnswer(answer: unknown): { readonly backends: string[] } | Refused {
  const refused = readRefusal(answer)
  if (refused) return refused
  const { backends } = requireRecord(answer)
  if (!Array.isArray(backends)) throw unknownForm()
  return { backends: backends.map(requireText) }
}

function readRefusal(answer: unknown): Refused | undefined {
  const { refusal } = requireRecord(answer)
  return refusal === null ? undefined : { refusal: requireText(refusal) }
}

export function requireRecord(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw unknownForm()
  return { ...value }
}

export function requireText(value: unknown): string {
  if (typeof value !== 'string') throw unknownForm()
  return value
}

export function unknownForm(): FleetError {
  return new FleetError('unavailable', 'agent', 'the agent answered in a form that is not known')
}
