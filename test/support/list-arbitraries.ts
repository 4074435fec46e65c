/** Lists and list queries for property tests: short texts of characters special to patterns and SQL. */
import fc from 'fast-check'
import type { ListQuery, Pattern } from '../../src/resources/list-query.js'

const characters = [
  'a',
  'A',
  'b',
  '*',
  ',',
  '\\',
  '%',
  '_',
  '~',
  '[',
  ']',
  '?',
  '^',
  'é',
  '🦊',
  "'",
]

export const shortText = fc.string({ unit: fc.constantFrom(...characters), maxLength: 5 })

/** Escapes a text as a caller does, so that it matches itself. */
export function escapePattern(text: string): string {
  return text.replaceAll(/[\\*,]/g, '\\$&')
}

/** Patterns as `parsePatterns` makes them: no two adjacent wildcards. */
export function patternOf(piece: fc.Arbitrary<string>): fc.Arbitrary<Pattern> {
  return fc.array(piece, { minLength: 1, maxLength: 4 }).map(([first = '', ...rest]) => {
    const last = rest.pop()
    if (last === undefined) return [first]
    return [first, ...rest.filter((middle) => middle !== ''), last]
  })
}

interface ListShape {
  readonly filters: Readonly<Record<string, fc.Arbitrary<Pattern>>>
  readonly sortable: readonly string[]
}

export function listQueryOf(shape: ListShape): fc.Arbitrary<ListQuery> {
  const filters = Object.entries(shape.filters).map(([field, pattern]) =>
    fc.record({
      field: fc.constant(field),
      anyOf: fc.array(pattern, { minLength: 1, maxLength: 3 }),
    }),
  )
  return fc.record({
    filters: fc.uniqueArray(fc.oneof(...filters), { maxLength: 2, selector: ({ field }) => field }),
    sort: fc.option(
      fc.record({ field: fc.constantFrom(...shape.sortable), descending: fc.boolean() }),
    ),
    take: fc.option(
      fc.record({
        limit: fc.integer({ min: 1, max: 12 }),
        offset: fc.integer({ min: 0, max: 30 }),
      }),
    ),
  })
}
