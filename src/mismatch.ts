/** Checks a value against a schema and reports in one line which key is wrong and what would be valid. */
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import type { Fitting } from './resources/json-fields.js'

interface Mismatch {
  /** `/tags/0/id`; empty for the value itself. */
  readonly instancePath: string
  readonly keyword: string
  readonly message: string
  readonly params: object
}

/** The maximum length of a key in a message, in characters. */
const keyLimit = 80

/** Above this many members, compiling a separate check is cheaper than searching the list for errors. */
const longList = 1000

/** Compiles on the first value: compiling all at start would double the start time. The function returns undefined for a valid value. */
export function prepareCheck(
  schema: TSchema | undefined,
): (value: unknown) => readonly Mismatch[] | undefined {
  if (schema === undefined) return () => undefined
  let validator: Validator | undefined
  return (value) => {
    validator ??= Compile(schema)
    if (validator.Check(value)) return undefined
    // Per member, finding the errors takes a hundred times as long as finding that there are any.
    const long = findLongList(schema, value)
    return long ? [long] : validator.Errors(shortenFitting(schema, value))
  }
}

export type Guard<Value> = (value: unknown) => value is Value

/** Compiled on first use, as above. */
export function prepareGuard<Schema extends TSchema>(schema: Schema): Guard<Fitting<Schema>> {
  const findMismatch = prepareCheck(schema)
  return (value): value is Fitting<Schema> => findMismatch(value) === undefined
}

/** Parses stored JSON; undefined when it is not JSON or does not fit. */
export function parseFitting<Value>(text: string, fits: Guard<Value>): Value | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return fits(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Searches lists in objects; lists within lists are bounded by the outer list. */
function findLongList(schema: TSchema, value: unknown, instancePath = ''): Mismatch | undefined {
  const { maxItems = Infinity, properties = {} } = schema as Listing // what it has of them is so
  if (Array.isArray(value) && value.length > maxItems) {
    const message = `must not have more than ${maxItems} items`
    return { instancePath, keyword: 'maxItems', message, params: {} }
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, inner] of Object.entries(properties)) {
    const long = findLongList(inner, Reflect.get(value, name), `${instancePath}/${name}`)
    if (long) return long
  }
  return undefined
}

/** Shortens valid long lists to one member: they have no errors. */
function shortenFitting(schema: TSchema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { properties = {} } = schema as Listing // as above
  const members = Object.entries(value as Record<string, unknown>).map(([name, member]) => {
    const inner = Object.hasOwn(properties, name) ? properties[name] : undefined
    const isLong = Array.isArray(member) && member.length > longList
    return [name, isLong && inner && Compile(inner).Check(member) ? member.slice(0, 1) : member]
  })
  return Object.fromEntries(members)
}

interface Listing {
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, TSchema>>
}

/**
 * The message of the innermost mismatch. For a union (`anyOf`) that is the closest variant; all variants of equal depth
 * are listed. `whole` names the value itself.
 */
export function describeMismatch(mismatches: readonly Mismatch[], whole = 'the body'): string {
  const meant = mismatches.filter(({ keyword }) => keyword !== 'anyOf' && keyword !== 'not')
  const depth = Math.max(0, ...meant.map(depthOf))
  const deepest = meant.filter((mismatch) => depthOf(mismatch) === depth)
  const [first] = deepest
  if (first === undefined) return 'the value does not fit'
  const texts = deepest
    .filter(({ instancePath }) => instancePath === first.instancePath)
    .map(describeOne)
  return `${nameOf(first) || whole} ${[...new Set(texts)].join(', or ')}`
}

function depthOf({ instancePath, keyword }: Mismatch): number {
  return instancePath.split('/').length + (keyword === 'required' ? 1 : 0)
}

/** A path such as `tags[0].id`. */
function nameOf({ instancePath, keyword, params }: Mismatch): string {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, keyLimit))
  if (keyword === 'required') path.push(missingKeys(params).join(', '))
  return path.reduce((text, part) => {
    if (/^\d+$/.test(part)) return `${text}[${part}]`
    return text === '' ? part : `${text}.${part}`
  }, '')
}

function describeOne({ keyword, message, params }: Mismatch): string {
  if (keyword === 'required') return 'is missing; it is required'
  if (keyword === 'const' && 'allowedValue' in params)
    return `must be ${JSON.stringify(params.allowedValue)}`
  if (keyword === 'enum' && 'allowedValues' in params && Array.isArray(params.allowedValues))
    return `must be one of ${params.allowedValues.map((value) => JSON.stringify(value)).join(', ')}`
  return message.slice(0, 300)
}

function missingKeys(params: object): readonly string[] {
  if (!('requiredProperties' in params) || !Array.isArray(params.requiredProperties)) return []
  return params.requiredProperties.filter((key) => typeof key === 'string')
}
