/** Reads a call's query string by its route's schema: closed, each parameter once (docs/behaviour.md, Lists). */
import type { TObject, TSchema } from 'typebox'
import { FleetError, type ErrorKey } from '../../errors.js'
import { describeMismatch, prepareCheck } from '../../mismatch.js'

/** As parsed by the framework: percent-decoded, a repeated name has a list. */
export type RawQuery = Readonly<Record<string, string | string[] | undefined>>

export type ReadQuery = (raw: RawQuery) => Record<string, unknown>

/** Without a schema the call takes no parameters. The returned function throws FleetError 'invalid' naming the parameter. */
export function prepareQuery(schema: TObject | undefined, errorKey: ErrorKey): ReadQuery {
  const types = new Map<string, { name: string; type: unknown }>()
  for (const [name, property] of Object.entries(schema?.properties ?? {}))
    types.set(name.toLowerCase(), { name, type: typeOf(property) })
  const open =
    schema !== undefined && 'additionalProperties' in schema && schema.additionalProperties === true
  const findMismatch = prepareCheck(schema)

  return (raw) => {
    const given = new Map<string, unknown>()
    for (const [name, value] of Object.entries(raw)) {
      if (value === undefined) continue
      refuseNul(name, value, errorKey)
      const known = types.get(name.toLowerCase())
      if (known === undefined) {
        if (!open) throw unknownParameter(name, types, errorKey)
        given.set(name, value)
      } else if (typeof value !== 'string' || given.has(known.name)) {
        throw new FleetError('invalid', errorKey, `${shorten(name)} is given twice; give it once`)
      } else given.set(known.name, convert(value, known.type))
    }
    // `__proto__` is treated like any other name.
    const query = Object.fromEntries(given)
    const mismatch = findMismatch(query)
    if (mismatch) throw new FleetError('invalid', errorKey, describeMismatch(mismatch))
    return query
  }
}

function typeOf(schema: TSchema): unknown {
  return 'type' in schema ? schema.type : undefined
}

/** PostgreSQL's text cannot store U+0000, so no stored value contains it. */
function refuseNul(name: string, value: string | string[], errorKey: ErrorKey): void {
  if (name.includes('\0') || value.includes('\0') || String(value).includes('\0'))
    throw new FleetError('invalid', errorKey, `${shorten(name)} holds the character U+0000`)
}

function unknownParameter(
  name: string,
  types: ReadonlyMap<string, { readonly name: string }>,
  errorKey: ErrorKey,
): FleetError {
  const known = [...types.values()].map((parameter) => parameter.name).join(', ')
  const right = known === '' ? 'it has none' : `it has ${known}`
  return new FleetError(
    'invalid',
    errorKey,
    `this call has no parameter ${shorten(name)}; ${right}`,
  )
}

/** Text that cannot be converted stays text, which the schema then refuses. */
function convert(value: string, type: unknown): unknown {
  if (type === 'integer' && /^-?\d{1,15}$/.test(value)) return Number(value)
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}

function shorten(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name)
}
