/**
 * The list conventions of the API: `field=pattern`, `sort=field[:asc|desc]`, `take=limit[,offset]` (docs/behaviour.md, Lists).
 * Parsed here; `src/coordinator/store/list-query.ts` translates it to SQL, `takeFromList` applies it to a list in memory.
 */
import { FleetError, type ErrorKey } from '../errors.js'

/** How the values of a field print as JSON text, which patterns are compared with. */
type ListFieldType = 'text' | 'number' | 'flag' | 'time' | 'choice' | 'nested'

/** The filter and sort fields of a list: API field (`name`, `tags.name`) → its type. Nested fields cannot be sorted by. */
export type ListFields = Readonly<Record<string, { readonly type: ListFieldType }>>

/** The literal pieces between wildcards: `a*b` is ['a', 'b'], a pattern without a wildcard is one piece. */
export type Pattern = readonly [string, ...string[]]

export interface Filter {
  /** The declared name, regardless of the case that the caller used. */
  readonly field: string
  /** At least one pattern must match. */
  readonly anyOf: readonly Pattern[]
}

export interface ListQuery {
  /** All must match. */
  readonly filters: readonly Filter[]
  /** Null: by id. Equal values are in the order of their ids. */
  readonly sort: { readonly field: string; readonly descending: boolean } | null
  readonly take: { readonly limit: number; readonly offset: number } | null
}

/** The whole list, by id. */
export const everything: ListQuery = { filters: [], sort: null, take: null }

/** A value that `takeFromList` compares: null sorts first. */
export type ListValue = string | number | boolean | null

const takePattern = /^([1-9]\d{0,3})(?:,(0|[1-9]\d{0,14}))?$/
/** docs/behaviour.md, Lists. */
const maxLimit = 1000
/** SQLite limits the depth of expressions to 1,000, and each wildcard pattern is one term of an OR. */
const maxAlternatives = 1000
const maxWildcardAlternatives = 100

/** Throws FleetError 'invalid' that names the parameter. Field names are case-insensitive, like body keys. */
export function parseListQuery(
  query: Readonly<Record<string, string | readonly string[] | undefined>>,
  fields: ListFields,
  errorKey: ErrorKey,
): ListQuery {
  const names = new Map(Object.keys(fields).map((field) => [field.toLowerCase(), field]))
  const given = new Map<string, { name: string; text: string }>()
  for (const [name, text] of Object.entries(query)) {
    if (text === undefined) continue
    const key = name.toLowerCase()
    if (typeof text !== 'string' || given.has(key))
      throw new FleetError('invalid', errorKey, `${quote(name)} is given twice; give it once`)
    if (key !== 'sort' && key !== 'take' && !names.has(key))
      throw new FleetError(
        'invalid',
        errorKey,
        `this list has no field ${quote(name)}; it has ${[...names.values()].join(', ')}`,
      )
    given.set(key, { name, text })
  }

  const filters: Filter[] = []
  for (const [key, { name, text }] of given) {
    const field = names.get(key)
    if (field !== undefined) filters.push({ field, anyOf: readPatterns(text, name, errorKey) })
  }
  const sort = given.get('sort')
  const take = given.get('take')
  return {
    filters,
    sort: sort === undefined ? null : readSort(sort.text, fields, names, errorKey),
    take: take === undefined ? null : readTake(take.text, errorKey),
  }
}

/** Parses `a*,b`: `\*`, `\,` and `\\` are literal. So is a backslash before any other character. */
export function parsePatterns(text: string): Pattern[] {
  const patterns: Pattern[] = []
  let before: string[] = []
  let piece = ''
  const endPattern = (): void => {
    const [first, ...rest] = before
    patterns.push(first === undefined ? [piece] : [first, ...rest, piece])
    before = []
    piece = ''
  }
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    const next = text.charAt(at + 1)
    if (char === '\\' && (next === '*' || next === ',' || next === '\\')) {
      piece += next
      at++
    } else if (char === ',') {
      endPattern()
    } else if (char === '*') {
      // Adjacent wildcards count as one.
      if (piece !== '' || before.length === 0) before.push(piece)
      piece = ''
    } else {
      piece += char
    }
  }
  endPattern()
  return patterns
}

/** Whether the whole text matches. Takes the leftmost position of each piece, so it is linear in pieces, never exponential. */
export function matchesPattern(pattern: Pattern, text: string): boolean {
  const [first, ...rest] = pattern
  const last = rest.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const piece of rest) {
    const found = text.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

/**
 * Applies the query in memory, for fields without a table column. `valuesOf` returns the JSON values of a field (several for a
 * nested one); items must be sorted by id. `total` counts the items that pass the filters, before `take`.
 */
export function takeFromList<Item>(
  items: readonly Item[],
  list: ListQuery,
  valuesOf: (item: Item, field: string) => readonly ListValue[],
): { readonly rows: Item[]; readonly total: number } {
  const chosen = items.filter((item) =>
    list.filters.every(({ field, anyOf }) =>
      valuesOf(item, field).some((value) =>
        anyOf.some((pattern) => matchesPattern(pattern, String(value))),
      ),
    ),
  )
  const sorted = list.sort === null ? chosen : sortItems(chosen, list.sort, valuesOf)
  const { limit, offset } = list.take ?? { limit: sorted.length, offset: 0 }
  return { rows: sorted.slice(offset, offset + limit), total: chosen.length }
}

function readPatterns(text: string, name: string, errorKey: ErrorKey): Pattern[] {
  const patterns = parsePatterns(text)
  const wildcards = patterns.filter((pattern) => pattern.length > 1).length
  if (patterns.length > maxAlternatives || wildcards > maxWildcardAlternatives)
    throw new FleetError(
      'invalid',
      errorKey,
      `${quote(name)} has too many patterns; at most ${maxAlternatives} are allowed, ` +
        `${maxWildcardAlternatives} of them with a wildcard`,
    )
  return patterns
}

function readSort(
  text: string,
  fields: ListFields,
  names: ReadonlyMap<string, string>,
  errorKey: ErrorKey,
): ListQuery['sort'] {
  const [name = '', direction = 'asc', ...more] = text.split(':')
  const field = names.get(name.toLowerCase())
  if (field === undefined || fields[field]?.type === 'nested')
    throw new FleetError('invalid', errorKey, `"sort" cannot be by ${quote(name)}`)
  if ((direction !== 'asc' && direction !== 'desc') || more.length > 0)
    throw new FleetError(
      'invalid',
      errorKey,
      `"sort" is ${quote(text)}; it must be field[:asc|desc]`,
    )
  return { field, descending: direction === 'desc' }
}

function readTake(text: string, errorKey: ErrorKey): ListQuery['take'] {
  const [, limit = '', offset = '0'] = takePattern.exec(text) ?? []
  if (limit === '' || Number(limit) > maxLimit)
    throw new FleetError(
      'invalid',
      errorKey,
      `"take" is ${quote(text)}; it must be limit[,offset], the limit from 1 to ${maxLimit}`,
    )
  return { limit: Number(limit), offset: Number(offset) }
}

function sortItems<Item>(
  items: readonly Item[],
  sort: { readonly field: string; readonly descending: boolean },
  valuesOf: (item: Item, field: string) => readonly ListValue[],
): Item[] {
  const sign = sort.descending ? -1 : 1
  return items.toSorted(
    (a, b) =>
      sign * compareValues(valuesOf(a, sort.field)[0] ?? null, valuesOf(b, sort.field)[0] ?? null),
  )
}

function compareValues(a: ListValue, b: ListValue): number {
  if (a === b) return 0
  if (a === null) return -1
  if (b === null) return 1
  // Compares bytes of UTF-8, as both databases do: the order of code units differs beyond the basic plane.
  if (typeof a === 'string' || typeof b === 'string')
    return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
  return Number(a) - Number(b)
}

/** The caller's text, shortened for an error message. */
function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}
