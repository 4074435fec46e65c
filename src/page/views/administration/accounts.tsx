/** The accounts: who may log in. One has a name, a password, a lock, and organizations where it is a user. */
import type { Account } from '../../api/account.js'
import { useList } from '../../api/list.js'
import { agoColumn, textColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { CheckField } from '../../parts/field.js'
import { useDraft, type Inputs } from '../../parts/inputs.js'
import { ListView, type Asked, type RowDeeds } from '../../parts/list-view.js'
import { Labels } from '../../parts/state-chip.js'
import type { Column } from '../../parts/table.js'
import { mayWrite, readWho } from '../../session/rights.js'
import { AdministrationHead, lockedColumn } from './administration-head.js'
import { EditDialog, EditForm, type Edit } from './edit-dialog.js'
import { OrganizationsField } from './owner-field.js'

export function View() {
  const isWriter = mayWrite('account')
  return (
    <ListView
      title="Accounts"
      Head={AdministrationHead}
      list={useList<Account>('/accounts')}
      textOf={({ name, email }) => `${name} ${email}`}
      columns={columns}
      noun={isWriter ? 'account' : null}
      deeds={isWriter ? deeds : null}
      dialog={(asked) => <AccountDialog {...asked} />}
      empty={
        <Empty icon="administration" title="No accounts yet">
          <p>An account logs in with its name and a password.</p>
        </Empty>
      }
    />
  )
}

const columns: readonly Column<Account>[] = [
  textColumn('Name', ({ name }) => name),
  lockedColumn(),
  {
    title: 'Organizations',
    from: 'medium',
    show: ({ organizations, systemAdministrator }) =>
      systemAdministrator ? (
        'System administrator'
      ) : (
        <Labels words={organizations.map(({ name }) => name)} />
      ),
  },
  textColumn('Email', ({ email }) => email, { from: 'wide' }),
  agoColumn('Made', ({ created }) => created, { from: 'wide' }),
]

const deeds: RowDeeds<Account> = {
  ...{ path: '/accounts', verb: 'Delete', done: 'Deleted.', width: '6.5rem', isChangeable: true },
  nameOf: ({ name }) => name,
  questionOf: ({ name }) => ({
    title: `Delete the account ${name}?`,
    text: 'Its sessions and API tokens end, and its permissions go with it. This cannot be undone.',
    name,
  }),
}

function AccountDialog(asked: Asked<Account>) {
  const title = asked.before ? `Account ${asked.before.name}` : 'New account'
  return (
    <EditDialog {...{ ...asked, title }} path="/accounts">
      {(edit) => <AccountForm edit={edit} />}
    </EditDialog>
  )
}

function AccountForm({ edit }: { readonly edit: Edit<Account> }) {
  const before = edit.was?.value ?? null
  const { name, email, locked, organizations } = before ?? blank
  const ids = organizations.map(({ id }) => id)
  const draft = useDraft({ name, email, password: '', locked, memberOf: ids })
  // The system administrator alone assigns; within an organization a new account is its user at once.
  const isAssigner = readWho()?.role === 'system' && before?.systemAdministrator !== true
  const toBody = () => ({
    ...{ name: draft.name.value, email: draft.email.value, locked: draft.locked.value },
    ...(draft.password.value === '' ? {} : { password: draft.password.value }),
    ...(isAssigner ? { organizations: draft.memberOf.value.map((id) => ({ id })) } : {}),
  })
  /** Who leaves an organization loses permissions that no call brings back, and the old password is not known. */
  const toUndoBody = () => {
    const now = draft.memberOf.value
    const isSameMember = ids.length === now.length && ids.every((id) => now.includes(id))
    return isSameMember && draft.password.value === '' ? { name, email, locked } : null
  }
  return (
    <EditForm {...{ edit, draft, toBody, toUndoBody }} inputs={listInputs(before === null)}>
      {isAssigner && <OrganizationsField value={draft.memberOf} />}
      <CheckField
        label="Locked"
        hint="It cannot log in, and its tokens are worth nothing"
        value={draft.locked}
      />
    </EditForm>
  )
}

const blank = { name: '', email: '', locked: false, organizations: [] }

function listInputs(isNew: boolean) {
  const kept = 'Empty: the one it has. A new one, of at least 12 characters, ends all its sessions.'
  return {
    name: {
      label: 'Name',
      required: true,
      hint: 'What is typed to log in; no other account may have it',
    },
    email: { label: 'Email', type: 'email' },
    password: {
      label: 'Password',
      type: 'password',
      autoComplete: 'new-password',
      required: isNew,
      hint: isNew ? 'At least 12 characters' : kept,
    },
  } satisfies Inputs
}
