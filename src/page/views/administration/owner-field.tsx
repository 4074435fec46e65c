/** Organizations to choose from: the one that a new object is for, those where an account is a user. */
import type { Signal } from '@preact/signals'
import { useList } from '../../api/list.js'
import type { Organization } from '../../api/organization.js'
import { SelectField } from '../../parts/field.js'
import { PickField } from '../../parts/pick-field.js'
import { readWho } from '../../session/rights.js'

interface OwnerFieldProps {
  /** The id; empty: none. */
  readonly value: Signal<string>
  /** What it means to choose none. */
  readonly none: string
}

/** The system administrator chooses, others have their own. */
export function OwnerField(props: OwnerFieldProps) {
  return readWho()?.role === 'system' ? <ChooseOwner {...props} /> : null
}

function ChooseOwner({ value, none }: OwnerFieldProps) {
  const options = useOrganizations().map(({ id, name }) => ({ value: String(id), title: name }))
  return (
    <SelectField
      label="Organization"
      value={value}
      options={[{ value: '', title: none }, ...options]}
    />
  )
}

/** For the body of the call. */
export function readOwner(id: string): { organization?: { id: number } } {
  return id === '' ? {} : { organization: { id: Number(id) } }
}

export function OrganizationsField({ value }: { readonly value: Signal<readonly number[]> }) {
  return (
    <PickField
      label="Organizations"
      options={useOrganizations()}
      value={value}
      hint="The first account of an organization becomes its administrator, later ones get no permissions by it"
    />
  )
}

function useOrganizations(): readonly Organization[] {
  return useList<Organization>('/organizations', { query: { sort: 'name' } }).rows
}
