/** The users: accounts in their organizations. */
import { useSignal } from '@preact/signals'
import type { Account } from '../../api/account.js'
import { useDeed } from '../../api/deed.js'
import { useList } from '../../api/list.js'
import type { Organization } from '../../api/organization.js'
import type { User } from '../../api/user.js'
import { Button, LinkButton } from '../../parts/button.js'
import { Dialog } from '../../parts/dialog.js'
import { agoColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { SelectField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { PickField } from '../../parts/pick-field.js'
import type { Column } from '../../parts/table.js'
import { mayWrite, readWho } from '../../session/rights.js'
import { useSearchText } from '../../shell/address.js'
import { AdministrationHead } from './administration-head.js'
import { saveObject } from './change-object.js'
import { ObjectList } from '../../parts/object-list.js'
import { roleOptions, roleTitles } from './roles.js'

export function View() {
  const list = useList<User>('/users')
  const text = useSearchText()
  const isAdding = useSignal(false)
  const isSystem = readWho()?.role === 'system'
  const shown = list.rows.filter(({ account, organization }) =>
    `${account.name} ${organization.name}`.toLowerCase().includes(text),
  )
  return (
    <>
      <AdministrationHead title="Users">
        {isSystem && (
          <Button
            kind="main"
            icon="add"
            onClick={() => {
              isAdding.value = true
            }}
          >
            Add a user
          </Button>
        )}
        {!isSystem && mayWrite('account') && (
          <LinkButton href="/administration/accounts">Make an account</LinkButton>
        )}
      </AdministrationHead>
      <ObjectList
        {...{ list, columns }}
        label="Users"
        rows={shown}
        linkOf={({ id }) => `/administration/users/${id}`}
      >
        <Empty icon="administration" title="No users yet">
          <p>Make an organization and an account, then add the account to the organization.</p>
        </Empty>
      </ObjectList>
      {isAdding.value && (
        <UserDialog
          onSaved={list.reload}
          onClose={() => {
            isAdding.value = false
          }}
        />
      )}
    </>
  )
}

const columns: readonly Column<User>[] = [
  { title: 'Account', show: ({ account }) => account.name, sortBy: ({ account }) => account.name },
  {
    title: 'Organization',
    from: 'medium',
    show: ({ organization }) => organization.name,
    sortBy: ({ organization }) => organization.name,
  },
  {
    title: 'Role',
    width: '9rem',
    show: ({ role }) => roleTitles[role],
    sortBy: ({ role }) => role,
  },
  agoColumn('Since', ({ created }) => created, { from: 'wide' }),
]

interface UserDialogProps {
  readonly onSaved: () => void
  readonly onClose: () => void
}

const byName = { query: { sort: 'name' } }

/** For the system administrator, who sees accounts of no organization. */
function UserDialog({ onSaved, onClose }: UserDialogProps) {
  const deed = useDeed()
  const { rows: accounts } = useList<Account>('/accounts', byName)
  const { rows: organizations } = useList<Organization>('/organizations', byName)
  const account = useSignal<readonly number[]>([])
  const organization = useSignal<readonly number[]>([])
  const role = useSignal('regular')
  const submit = (): void => {
    const body = {
      account: { id: account.value[0] ?? null },
      organization: { id: organization.value[0] ?? null },
      role: role.value,
    }
    const saving = { path: '/users', was: null, body, then: onSaved, close: onClose }
    void saveObject(deed, saving) // never rejects
  }
  return (
    <Dialog title="Add a user" onClose={onClose}>
      <Form deed={deed} verb="Add" onSubmit={submit} onCancel={onClose}>
        <PickField
          label="Account"
          options={accounts.filter(({ systemAdministrator }) => !systemAdministrator)}
          value={account}
          isSingle
        />
        <PickField label="Organization" options={organizations} value={organization} isSingle />
        <SelectField label="Role" value={role} options={roleOptions} />
      </Form>
    </Dialog>
  )
}
