/** Lists the actions that the API accepts for an invalidation in its current state (docs/behaviour.md, Invalidations). */
import type { Invalidation } from '../../../resources/invalidation.js'

interface AvailableActions {
  readonly retry: boolean
  readonly cancel: boolean
  readonly remove: boolean
}

export function listActions({
  stateName,
  results,
}: Pick<Invalidation, 'stateName' | 'results'>): AvailableActions {
  const isCompleted = stateName === 'Completed'
  const hasEnded = isCompleted || stateName === 'Failed' || stateName === 'Cancelled'
  const isMissed = results.some(({ state }) => state !== 'done' && state !== 'pending')
  return { retry: !isCompleted && isMissed, cancel: !hasEnded, remove: hasEnded }
}
