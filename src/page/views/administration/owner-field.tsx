/** Organizations to choose from: the one that a new object is for, those where an account is a user. */
import { useSignal, type Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Organization } from '../../../resources/organization.js'
import { useList } from '../../api/list.js'
import { SelectField } from '../../parts/field.js'
import { PickField } from '../../parts/pick-field.js'
import { readWho } from '../../session/rights.js'

interface Owner {
  /** The system administrator chooses, others have their own. */
  readonly field: ComponentChildren
  /** For the body of the call. */
  readonly read: () => { readonly organization?: { readonly id: number } }
}

/** Whose a new object is. `none`: what it means to choose none. */
export function useOwner(none: string): Owner {
  const id = useSignal('')
  return {
    field: readWho()?.role === 'system' && <ChooseOwner value={id} none={none} />,
    read: () => (id.value === '' ? {} : { organization: { id: Number(id.value) } }),
  }
}

interface ChooseOwnerProps {
  /** The id; empty: none. */
  readonly value: Signal<string>
  readonly none: string
}

function ChooseOwner({ value, none }: ChooseOwnerProps) {
  const options = useOrganizations().map(({ id, name }) => ({ value: String(id), title: name }))
  return (
    <SelectField
      label="Organization"
      value={value}
      options={[{ value: '', title: none }, ...options]}
    />
  )
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

export function useOrganizations(): readonly Organization[] {
  return useList<Organization>('/organizations', { query: { sort: 'name' } }).rows
}
