/** The organization that a new object is for: the system administrator chooses, others have their own. */
import type { Signal } from '@preact/signals'
import { useList } from '../../api/list.js'
import type { Organization } from '../../api/organization.js'
import { SelectField } from '../../parts/field.js'
import { readWho } from '../../session/rights.js'

export interface OwnerFieldProps {
  /** The id; empty: none. */
  readonly value: Signal<string>
  /** What it means to choose none. */
  readonly none: string
}

export function OwnerField(props: OwnerFieldProps) {
  return readWho()?.role === 'system' ? <ChooseOwner {...props} /> : null
}

function ChooseOwner({ value, none }: OwnerFieldProps) {
  const { rows } = useList<Organization>('/organizations', { query: { sort: 'name' } })
  const options = [
    { value: '', title: none },
    ...rows.map(({ id, name }) => ({ value: String(id), title: name })),
  ]
  return <SelectField label="Organization" value={value} options={options} />
}

/** For the body of the call. */
export function readOwner({ value }: Signal<string>): { organization?: { id: number } } {
  return value === '' ? {} : { organization: { id: Number(value) } }
}
