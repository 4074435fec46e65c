/** What the API would do with an invalidation as it is now (docs/behaviour.md, Invalidations). */
import type { Invalidation } from '../../../resources/invalidation.js'

export interface Deeds {
  readonly retry: boolean
  readonly cancel: boolean
  readonly remove: boolean
}

export function listDeeds({
  stateName,
  results,
}: Pick<Invalidation, 'stateName' | 'results'>): Deeds {
  const isCompleted = stateName === 'Completed'
  const hasEnded = isCompleted || stateName === 'Failed' || stateName === 'Cancelled'
  const isMissed = results.some(({ state }) => state !== 'done' && state !== 'pending')
  return { retry: !isCompleted && isMissed, cancel: !hasEnded, remove: hasEnded }
}
