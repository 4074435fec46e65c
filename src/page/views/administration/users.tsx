/** The users: accounts in their organizations. */
import { useSignal } from '@preact/signals'
import type { Account } from '../../api/account.js'
import { call } from '../../api/call.js'
import { useDeed } from '../../api/deed.js'
import { useList } from '../../api/list.js'
import type { Organization } from '../../api/organization.js'
import type { User } from '../../api/user.js'
import { Button, LinkButton } from '../../parts/button.js'
import { agoColumn, textColumn } from '../../parts/columns.js'
import { Dialog } from '../../parts/dialog.js'
import { Empty } from '../../parts/empty.js'
import { SelectField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { ListView, type Asked } from '../../parts/list-view.js'
import { PickField } from '../../parts/pick-field.js'
import type { Column } from '../../parts/table.js'
import { toast } from '../../parts/toasts.js'
import { mayWrite, readWho } from '../../session/rights.js'
import { AdministrationHead } from './administration-head.js'
import { roleOptions, roleTitles } from './roles.js'

export function View() {
  const isSystem = readWho()?.role === 'system'
  return (
    <ListView
      title="Users"
      Head={AdministrationHead}
      list={useList<User>('/users')}
      textOf={({ account, organization }) => `${account.name} ${organization.name}`}
      columns={columns}
      linkOf={({ id }) => `/administration/users/${id}`}
      buttons={(add) => (isSystem ? <AddButton add={add} /> : <MakeAccount />)}
      dialog={(asked) => <UserDialog {...asked} />}
      empty={
        <Empty icon="administration" title="No users yet">
          <p>Make an organization and an account, then add the account to the organization.</p>
        </Empty>
      }
    />
  )
}

function AddButton({ add }: { readonly add: () => void }) {
  return (
    <Button kind="main" icon="add" onClick={add}>
      Add a user
    </Button>
  )
}

function MakeAccount() {
  if (!mayWrite('account')) return null
  return <LinkButton href="/administration/accounts">Make an account</LinkButton>
}

const columns: readonly Column<User>[] = [
  textColumn('Account', ({ account }) => account.name),
  textColumn('Organization', ({ organization }) => organization.name, { from: 'medium' }),
  textColumn('Role', ({ role }) => roleTitles[role], { width: '9rem', sortBy: ({ role }) => role }),
  agoColumn('Since', ({ created }) => created, { from: 'wide' }),
]

const byName = { query: { sort: 'name' } }

/** For the system administrator, who sees accounts of no organization. */
function UserDialog({ onSaved, onClose }: Asked<User>) {
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
    void deed.run(
      () => call('POST', '/users', { body }),
      () => {
        toast('Made.')
        onClose()
        onSaved()
      },
    )
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
