/** The state of an invalidation; Running is work on its way here, not what is well. */
import type { ListedInvalidation } from '../../../resources/invalidation.js'
import { StateChip } from '../../parts/state-chip.js'

export function InvalidationState({ of }: { readonly of: Pick<ListedInvalidation, 'stateName'> }) {
  const { stateName } = of
  return <StateChip state={stateName} {...(stateName === 'Running' ? { tone: 'busy' } : {})} />
}
