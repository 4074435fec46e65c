/** The consolidation functions: what one number is made of a row (docs/behaviour.md, Statistics). */
import type { Value } from './row.js'

export const consolidations = ['AVERAGE', 'MIN', 'MAX', 'LAST', 'TOTAL'] as const
export type Consolidation = (typeof consolidations)[number]

/** In any case; undefined for another word. */
export function parseConsolidation(word: string): Consolidation | undefined {
  const upper = word.toUpperCase()
  return consolidations.find((name) => name === upper)
}

/** TOTAL is the sum over the known time: of a counter the number of its events. */
export function consolidate(value: Value, consolidation: Consolidation): number {
  switch (consolidation) {
    case 'AVERAGE':
      return value.average
    case 'MIN':
      return value.minimum
    case 'MAX':
      return value.maximum
    case 'LAST':
      return value.last
    case 'TOTAL':
      return value.average * value.knownSeconds
  }
}
