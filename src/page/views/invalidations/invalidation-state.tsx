/** The state of an invalidation; here Running means work in progress, not a healthy state. */
import type { ListedInvalidation } from '../../../resources/invalidation.js'
import { StateChip } from '../../parts/state-chip.js'

export function InvalidationState({ of }: { readonly of: Pick<ListedInvalidation, 'stateName'> }) {
  const { stateName } = of
  return <StateChip state={stateName} {...(stateName === 'Running' ? { tone: 'busy' } : {})} />
}
