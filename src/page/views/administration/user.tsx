/** One user: role, permissions, and removal from the organization. */
import { useMutation } from '../../api/mutation.js'
import { useObject } from '../../api/object.js'
import type { User } from '../../../resources/user.js'
import { Button } from '../../parts/button.js'
import { Choices } from '../../parts/choices.js'
import { EditError } from '../../parts/edit-error.js'
import { saveChange } from '../../parts/save-change.js'
import { LoadStatus } from '../../parts/load-status.js'
import { useDelete } from '../../parts/use-delete.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayRead, mayWrite } from '../../session/rights.js'
import type { ViewProps } from '../../views.js'
import { PermissionsPanel } from './permissions-panel.js'
import { roleOptions, roleTitles } from './roles.js'

export function View({ params }: ViewProps) {
  const path = `/users/${encodeURIComponent(params['id'] ?? '')}`
  const shown = useObject<User>(path)
  const { value: user, etag, reload } = shown
  const leaving = useDelete()
  const remove = ({ account, organization }: User): Promise<void> =>
    leaving.ask({
      path,
      name: account.name,
      home: '/administration/users',
      verb: 'Remove',
      title: `Remove ${account.name} from organization ${organization.name}?`,
      text: 'Its permissions and sessions there are deleted. The account itself is kept.',
      done: `${account.name} removed from ${organization.name}.`,
    })
  return (
    <>
      <ViewHead
        title={user?.account.name ?? 'User'}
        beside={user && <span class="quiet">{user.organization.name}</span>}
        back={{ href: '/administration/users', title: 'Users' }}
      >
        {user && mayWrite('account') && (
          <Button icon="remove" onClick={() => void remove(user)}>
            Remove from organization
          </Button>
        )}
      </ViewHead>
      <LoadStatus of={shown} mutation={leaving} />
      {user && <Panels user={user} etag={etag} reload={reload} />}
    </>
  )
}

interface PanelProps {
  readonly user: User
  readonly etag: string | null
  readonly reload: () => void
}

function Panels({ user, etag, reload }: PanelProps) {
  return (
    <div class="panels user-panels">
      <RolePanel user={user} etag={etag} reload={reload} />
      {mayRead('perm') && <PermissionsPanel user={user} />}
    </div>
  )
}

function RolePanel({ user, etag, reload }: PanelProps) {
  const mutation = useMutation()
  const { id, role } = user
  const mayChange = mayWrite('account') && mayWrite('perm')
  const choose = (chosen: string): void => {
    if (chosen === role) return
    const change = { before: { role }, after: { role: chosen }, etag, then: reload }
    void saveChange(mutation, { path: `/users/${id}`, ...change }) // never rejects
  }
  return (
    <section class="panel">
      <h2>Role</h2>
      {mayChange ? (
        <Choices label="Role" value={role} choices={roleOptions} onChoose={choose} />
      ) : (
        <p>{roleTitles[role]}</p>
      )}
      <p class="quiet">
        {role === 'administrator'
          ? 'May do everything in the organization.'
          : 'May do what the permissions allow.'}
        {!mayChange && ' Changing the role needs permission to write accounts and permissions.'}
      </p>
      <EditError
        mutation={mutation}
        onReadAgain={() => {
          mutation.forget()
          reload()
        }}
      />
    </section>
  )
}
