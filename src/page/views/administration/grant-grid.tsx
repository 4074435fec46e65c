/** Permissions as a grid of check boxes: one row per type, columns for read and write. */
import type { Signal } from '@preact/signals'
import type { Access, Grants, PermissionType } from '../../../resources/permission.js'
import { grantTypes, setGrant } from './grants.js'

interface GrantGridProps {
  readonly label: string
  readonly value: Signal<Grants>
  /** Returns why this permission cannot be given; null: it can. */
  readonly whyNot: (type: PermissionType, access: Access) => string | null
}

export function GrantGrid({ label, value, whyNot }: GrantGridProps) {
  return (
    <table class="grants" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">Objects</th>
          <th scope="col">Read</th>
          <th scope="col">Write</th>
        </tr>
      </thead>
      <tbody>
        {grantTypes.map(({ type, title }) => (
          <tr key={type}>
            <th scope="row">
              {title} <code class="grants-type">{type}</code>
            </th>
            <td>
              <GrantBox access="read" value={value} whyNot={whyNot} type={type} title={title} />
            </td>
            <td>
              <GrantBox access="write" value={value} whyNot={whyNot} type={type} title={title} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface GrantBoxProps extends Omit<GrantGridProps, 'label'> {
  readonly type: PermissionType
  readonly title: string
  readonly access: Access
}

function GrantBox({ value, whyNot, type, title, access }: GrantBoxProps) {
  const grant = value.value[type]
  const reason = whyNot(type, access)
  const name = `${access === 'read' ? 'Read' : 'Write'} ${title}`
  return (
    <label class="grants-box" title={reason ?? undefined}>
      <input
        type="checkbox"
        checked={grant === 'write' || grant === access}
        disabled={reason !== null}
        aria-label={reason === null ? name : `${name}: ${reason}`}
        onChange={({ currentTarget: { checked } }) => {
          value.value = setGrant(value.peek(), type, access, checked)
        }}
      />
    </label>
  )
}
