/**
 * Normalizes a parsed body before schema validation (docs/behaviour.md, Updates): matches keys case-insensitively, refuses
 * unknown keys by name, drops read-only keys and refuses text that a database cannot store.
 */
import type { TSchema } from 'typebox'
import { FleetError, type ErrorKey } from '../../errors.js'
import { describeMismatch, prepareCheck } from '../../mismatch.js'

interface InputRules {
  readonly schema: TSchema
  /** Accepted at the top level and dropped. */
  readonly ignoredKeys: readonly string[]
  readonly ignoresUnknownKeys: boolean
  readonly errorKey: ErrorKey
}

/** `objectId` is the `{id}` of the path; a different `id` in the body is refused. */
export type ReadInput = (body: unknown, objectId: number | null) => unknown

/** Allowed keys of a value, read once from its schema. */
type Shape =
  | { readonly kind: 'any' }
  | { readonly kind: 'array'; readonly items: Shape; readonly most: number }
  | {
      readonly kind: 'object'
      /** Lower-case key → the schema's spelling. */
      readonly keys: ReadonlyMap<string, { readonly name: string; readonly shape: Shape }>
      /** Schema of further keys; null if none are allowed. */
      readonly others: Shape | null
    }

const anyShape: Shape = { kind: 'any' }
const anyList = { items: anyShape, most: Infinity }

/** The returned function throws FleetError 'invalid' that names the key. */
export function prepareInput({
  schema,
  ignoredKeys,
  ignoresUnknownKeys,
  errorKey,
}: InputRules): ReadInput {
  const shape = shapeOf(schema)
  const ignored = new Set(ignoredKeys.map((key) => key.toLowerCase()))
  const findMismatch = prepareCheck(schema)
  const refuse = (message: string): never => {
    throw new FleetError('invalid', errorKey, message)
  }

  return (body, objectId) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw new FleetError('invalid', 'body', 'the body must be a JSON object')
    const kept = dropIgnored(body, { shape, ignored, objectId, refuse })
    const canonical = canonicalize(kept, shape, { path: '', refuse, ignoresUnknownKeys })
    const mismatch = findMismatch(canonical)
    return mismatch ? refuse(describeMismatch(mismatch)) : canonical
  }
}

function shapeOf(schema: TSchema): Shape {
  const variants = listOf(schema, 'anyOf').map(shapeOf)
  if (variants.length > 0) return variants.reduce(joinShapes)
  if ('items' in schema && isSchema(schema.items))
    return { kind: 'array', items: shapeOf(schema.items), most: mostOf(schema) }
  if (!('type' in schema) || schema.type !== 'object') return anyShape
  const keys = new Map<string, { name: string; shape: Shape }>()
  if ('properties' in schema && isSchema(schema.properties))
    for (const [name, property] of Object.entries(schema.properties))
      keys.set(name.toLowerCase(), {
        name,
        shape: isSchema(property) ? shapeOf(property) : anyShape,
      })
  return { kind: 'object', keys, others: othersOf(schema) }
}

function mostOf(schema: object): number {
  const most: unknown = Reflect.get(schema, 'maxItems')
  return typeof most === 'number' ? most : Infinity
}

function othersOf(schema: object): Shape | null {
  if ('patternProperties' in schema) return anyShape
  const additionalProperties: unknown = Reflect.get(schema, 'additionalProperties')
  if (additionalProperties === true) return anyShape
  return isSchema(additionalProperties) ? shapeOf(additionalProperties) : null
}

/** For a union, the keys of all its objects; `T | null` has those of T. */
function joinShapes(a: Shape, b: Shape): Shape {
  if (a.kind === 'any') return b
  if (b.kind === 'any' || a.kind !== 'object' || b.kind !== 'object') return a
  return { kind: 'object', keys: new Map([...a.keys, ...b.keys]), others: a.others ?? b.others }
}

interface TopLevel {
  readonly shape: Shape
  readonly ignored: ReadonlySet<string>
  readonly objectId: number | null
  readonly refuse: (message: string) => never
}

function dropIgnored(body: object, { shape, ignored, objectId, refuse }: TopLevel): object {
  const kept: [string, unknown][] = []
  const seen = new Set<string>()
  for (const [key, value] of Object.entries(body)) {
    const lower = key.toLowerCase()
    if (!ignored.has(lower) || (shape.kind === 'object' && shape.keys.has(lower))) {
      kept.push([key, value])
      continue
    }
    if (seen.has(lower)) refuse(`${key} is given twice, in different case; give it once`)
    seen.add(lower)
    if (lower === 'id' && objectId !== null && value !== objectId)
      refuse(`id is another than that of the path (${objectId}); leave it out`)
  }
  return Object.fromEntries(kept)
}

interface Place {
  readonly path: string
  readonly ignoresUnknownKeys: boolean
  readonly refuse: (message: string) => never
}

/** Recursion is bounded: a body is nested 64 deep at most. */
function canonicalize(value: unknown, shape: Shape, place: Place): unknown {
  if (typeof value === 'string') return checkText(value, place)
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER)
    place.refuse(`${place.path} is too large a number`)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const { items, most } = shape.kind === 'array' ? shape : anyList
    // Yields before each element is checked.
    if (value.length > most) place.refuse(`${place.path} must not have more than ${most} items`)
    return value.map((item, index) =>
      canonicalize(item, items, { ...place, path: `${place.path}[${index}]` }),
    )
  }
  return canonicalizeObject(value, shape, place)
}

function canonicalizeObject(value: object, shape: Shape, place: Place): object {
  const { path, refuse, ignoresUnknownKeys } = place
  const result: [string, unknown][] = []
  const seen = new Set<string>()
  for (const [key, item] of Object.entries(value)) {
    const at = join(path, key)
    const { name, inner } = resolveName(shape, key)
    if (inner === null) {
      if (ignoresUnknownKeys) continue
      return refuse(`${at} is not known here; ${knownKeys(shape)}`)
    }
    if (seen.has(name))
      refuse(`${join(path, name)} is given twice, in different case; give it once`)
    seen.add(name)
    result.push([name, canonicalize(item, inner, { ...place, path: at })])
  }
  return Object.fromEntries(result)
}

/** `inner` is null if there is no such key. */
function resolveName(
  shape: Shape,
  key: string,
): { readonly name: string; readonly inner: Shape | null } {
  if (key === '__proto__') return { name: key, inner: null }
  if (shape.kind !== 'object') return { name: key, inner: anyShape }
  const known = shape.keys.get(key.toLowerCase())
  return known ? { name: known.name, inner: known.shape } : { name: key, inner: shape.others }
}

function checkText(text: string, { path, refuse }: Place): string {
  const found = /\p{Surrogate}|\0/u.exec(text)
  if (!found) return text
  const what = found[0] === '\0' ? 'the character U+0000' : 'half of a surrogate pair'
  const position = Array.from(text.slice(0, found.index)).length + 1
  return refuse(`${path} holds ${what} at position ${position}`)
}

function join(path: string, key: string): string {
  const short = key.length > 80 ? `${key.slice(0, 80)}…` : key
  return path === '' ? short : `${path}.${short}`
}

function knownKeys(shape: Shape): string {
  if (shape.kind !== 'object' || shape.keys.size === 0) return 'there are no keys here'
  return `known are ${[...shape.keys.values()].map(({ name }) => name).join(', ')}`
}

function listOf(schema: TSchema, keyword: string): TSchema[] {
  const list: unknown = Reflect.get(schema, keyword)
  return Array.isArray(list) ? list.filter(isSchema) : []
}

function isSchema(value: unknown): value is TSchema {
  return typeof value === 'object' && value !== null
}
