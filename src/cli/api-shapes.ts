/** What the client takes for granted of the API's answers, checked at the border: objects, lists of them, references. */

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Undefined: it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Throws an Error that names what came instead. */
export function requireFields(value: unknown): Fields {
  if (isFields(value)) return value
  throw new Error(`An object was expected of the coordinator, not ${describe(value)}`)
}

/** Throws an Error that names what came instead. */
export function requireList(value: unknown): readonly Fields[] {
  if (Array.isArray(value) && value.every(isFields)) return value
  throw new Error(`A list was expected of the coordinator, not ${describe(value)}`)
}

/** What references and objects are called: domains have an fqdn, tokens a label (docs/behaviour.md, Updates). */
export function nameOf(value: unknown): string | undefined {
  if (!isFields(value)) return undefined
  const name = value['name'] ?? value['fqdn'] ?? value['label']
  return typeof name === 'string' ? name : undefined
}

/** `{id, name}` or `{id, fqdn}`, also with more fields. */
export function isReference(value: unknown): value is Fields {
  return isFields(value) && typeof value['id'] === 'number' && nameOf(value) !== undefined
}

/** Null: of nothing, such as what belongs to no organization. */
export function idOf(reference: unknown): unknown {
  return isFields(reference) ? reference['id'] : null
}

function describe(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 80)
}
