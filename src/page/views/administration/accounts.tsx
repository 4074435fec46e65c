/** The accounts: name, password, lock, and the organizations in which each is a user. */
import { useSignal } from '@preact/signals'
import type { Account } from '../../../resources/account.js'
import { agoColumn, textColumn } from '../../parts/columns.js'
import type { FormInputs } from '../../parts/input-form.js'
import { Labels } from '../../parts/state-chip.js'
import { mayWrite, readWho } from '../../session/rights.js'
import { lockedColumn } from './administration-head.js'
import { viewOf } from './administration-list.js'
import type { FormExtras } from './edit-dialog.js'
import { OrganizationsField } from './owner-field.js'

export const View = viewOf<Account>({
  title: 'Accounts',
  path: '/accounts',
  noun: 'account',
  mayWrite: () => mayWrite('account'),
  textOf: ({ name, email }) => `${name} ${email}`,
  columns: [
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
    agoColumn('Created', ({ created }) => created, { from: 'wide' }),
  ],
  actions: {
    isChangeable: true,
    nameOf: ({ name }) => name,
    questionOf: ({ name }) => ({
      title: `Delete the account ${name}?`,
      text: 'Its sessions and API tokens end, and its permissions go with it. This cannot be undone.',
      name,
    }),
  },
  edit: {
    titleOf: (before) => (before ? `Account ${before.name}` : 'New account'),
    inputs: listInputs,
    useExtras: useMembership,
  },
  empty: {
    title: 'No accounts yet',
    text: 'An account logs in with its name and a password.',
  },
})

function listInputs(isNew: boolean): FormInputs {
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
    locked: {
      label: 'Locked',
      type: 'check',
      hint: 'Login and tokens are disabled',
    },
  }
}

/** Only the system administrator assigns accounts; an account created within an organization becomes its user at once. */
function useMembership(was: Account | null): FormExtras {
  const ids = was?.organizations.map(({ id }) => id) ?? []
  const memberOf = useSignal<readonly number[]>(ids)
  const isAssigner = readWho()?.role === 'system' && was?.systemAdministrator !== true
  if (!isAssigner) return { mayUndo: ({ password }) => password === undefined }
  return {
    last: <OrganizationsField value={memberOf} />,
    toBody: (body) => ({ ...body, organizations: memberOf.value.map((id) => ({ id })) }),
    /** Removal from an organization deletes permissions that no call restores, and the old password is unknown. */
    mayUndo: ({ password }) => {
      const now = memberOf.value
      const isSameMember = ids.length === now.length && ids.every((id) => now.includes(id))
      return isSameMember && password === undefined
    },
  }
}
