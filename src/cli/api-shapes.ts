/** Checks what the client assumes about the API's responses: objects, lists of objects, references. */

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns undefined for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Throws an Error that quotes the unexpected value. */
export function requireFields(value: unknown): Fields {
  if (isFields(value)) return value
  throw new Error(`An object was expected of the coordinator, not ${describe(value)}`)
}

/** Throws an Error that quotes the unexpected value. */
export function requireList(value: unknown): readonly Fields[] {
  if (Array.isArray(value) && value.every(isFields)) return value
  throw new Error(`A list was expected of the coordinator, not ${describe(value)}`)
}

/** The name of a reference or object: domains have an fqdn, tokens a label (docs/behaviour.md, Updates). */
export function nameOf(value: unknown): string | undefined {
  if (!isFields(value)) return undefined
  const name = value['name'] ?? value['fqdn'] ?? value['label']
  return typeof name === 'string' ? name : undefined
}

/** True for `{id, name}` or `{id, fqdn}`, with or without further fields. */
export function isReference(value: unknown): value is Fields {
  return isFields(value) && typeof value['id'] === 'number' && nameOf(value) !== undefined
}

/** Returns null for a missing reference, such as the organization of an object without one. */
export function idOf(reference: unknown): unknown {
  return isFields(reference) ? reference['id'] : null
}

function describe(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 80)
}
