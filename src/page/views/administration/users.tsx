/** The users: accounts in their organizations. */
import { useSignal } from '@preact/signals'
import type { Account } from '../../../resources/account.js'
import type { User } from '../../../resources/user.js'
import { useList } from '../../api/list.js'
import { Button, LinkButton } from '../../parts/button.js'
import { agoColumn, textColumn } from '../../parts/columns.js'
import { SelectField } from '../../parts/field.js'
import { PickField } from '../../parts/pick-field.js'
import { mayWrite, readWho } from '../../session/rights.js'
import { viewOf } from './administration-list.js'
import type { FormExtras } from './edit-dialog.js'
import { useOrganizations } from './owner-field.js'
import { roleOptions, roleTitles } from './roles.js'

export const View = viewOf<User>({
  title: 'Users',
  path: '/users',
  mayWrite: () => readWho()?.role === 'system',
  textOf: ({ account, organization }) => `${account.name} ${organization.name}`,
  columns: [
    textColumn('Account', ({ account }) => account.name),
    textColumn('Organization', ({ organization }) => organization.name, { from: 'medium' }),
    textColumn('Role', ({ role }) => roleTitles[role], {
      width: '9rem',
      sortBy: ({ role }) => role,
    }),
    agoColumn('Since', ({ created }) => created, { from: 'wide' }),
  ],
  linkOf: ({ id }) => `/administration/users/${id}`,
  buttons: (add) => (readWho()?.role === 'system' ? <AddButton add={add} /> : <CreateAccount />),
  edit: { titleOf: () => 'Add a user', verb: 'Add', inputs: () => ({}), useExtras: useChoices },
  empty: {
    title: 'No users yet',
    text: 'Create an organization and an account, then add the account to the organization.',
  },
})

function AddButton({ add }: { readonly add: () => void }) {
  return (
    <Button kind="main" icon="add" onClick={add}>
      Add a user
    </Button>
  )
}

function CreateAccount() {
  if (!mayWrite('account')) return null
  return <LinkButton href="/administration/accounts">Create an account</LinkButton>
}

/** For the system administrator, who also sees accounts without an organization. */
function useChoices(): FormExtras {
  const { rows } = useList<Account>('/accounts', { query: { sort: 'name' } })
  const organizations = useOrganizations()
  const account = useSignal<readonly number[]>([])
  const organization = useSignal<readonly number[]>([])
  const role = useSignal('regular')
  const accounts = rows.filter(({ systemAdministrator }) => !systemAdministrator)
  return {
    first: (
      <>
        <PickField label="Account" options={accounts} value={account} isSingle />
        <PickField label="Organization" options={organizations} value={organization} isSingle />
        <SelectField label="Role" value={role} options={roleOptions} />
      </>
    ),
    toBody: () => ({
      account: { id: account.value[0] ?? null },
      organization: { id: organization.value[0] ?? null },
      role: role.value,
    }),
  }
}
