/** Chooses the deployments of a certificate among those of its owner. */
import type { Signal } from '@preact/signals'
import type { Deployment } from '../../../resources/deployment.js'
import type { Reference } from '../../../resources/resource.js'
import { useList } from '../../api/list.js'
import { filterOwned } from '../../parts/filter-owned.js'
import { PickField } from '../../parts/pick-field.js'
import { mayRead } from '../../session/rights.js'

interface DeploymentsFieldProps {
  readonly owner: Reference | null
  /** The chosen ids. */
  readonly value: Signal<readonly number[]>
}

/** Users who may not read deployments cannot choose any. */
export function DeploymentsField({ owner, value }: DeploymentsFieldProps) {
  const isSeen = mayRead('deployment')
  const { rows } = useList<Deployment>(isSeen ? '/deployments' : null, { query: { sort: 'name' } })
  if (!isSeen) return null
  return (
    <PickField
      label="Deployments"
      options={filterOwned(rows, owner)}
      value={value}
      hint="It goes to every cache that has all tags of one of these, whatever their min and max."
    />
  )
}

/** For a request body; users who may not read deployments leave them unchanged. */
export function toDeployments(ids: readonly number[]) {
  return mayRead('deployment') ? { deployments: ids.map((id) => ({ id })) } : {}
}
