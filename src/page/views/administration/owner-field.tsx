/** Fields to choose organizations: the owner of a new object, or those in which an account is a user. */
import { useSignal, type Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Organization } from '../../../resources/organization.js'
import { useList } from '../../api/list.js'
import { SelectField } from '../../parts/field.js'
import { PickField } from '../../parts/pick-field.js'
import { readWho } from '../../session/rights.js'

interface Owner {
  /** The system administrator chooses; other users have their own organization. */
  readonly field: ComponentChildren
  /** Returns the part of the request body. */
  readonly read: () => { readonly organization?: { readonly id: number } }
}

/** The owner of a new object. `none`: the meaning of choosing no organization. */
export function useOwner(none: string): Owner {
  const id = useSignal('')
  return {
    field: readWho()?.role === 'system' && <ChooseOwner value={id} none={none} />,
    read: () => (id.value === '' ? {} : { organization: { id: Number(id.value) } }),
  }
}

interface ChooseOwnerProps {
  /** The id; empty: no organization. */
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
