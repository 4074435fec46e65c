/** The consolidation functions: each reduces a row to one number (docs/behaviour.md, Statistics). */
import type { Value } from './row.js'

export const consolidations = ['AVERAGE', 'MIN', 'MAX', 'LAST', 'TOTAL'] as const
export type Consolidation = (typeof consolidations)[number]

/** Case-insensitive; undefined for any other word. */
export function parseConsolidation(word: string): Consolidation | undefined {
  const upper = word.toUpperCase()
  return consolidations.find((name) => name === upper)
}

/** TOTAL is the sum over the known time: for a counter, the number of events. */
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
