/** Makes or changes an account: name, password, lock, and where it is a user. */
import { useSignal, type Signal } from '@preact/signals'
import type { Account } from '../../api/account.js'
import { useDeed } from '../../api/deed.js'
import { useList } from '../../api/list.js'
import type { Organization } from '../../api/organization.js'
import { CheckField, TextField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { PickField } from '../../parts/pick-field.js'
import { readWho } from '../../session/rights.js'
import { saveObject } from './change-object.js'
import { ObjectDialog, type Was } from './object-dialog.js'

export interface AccountDialogProps {
  /** As the list has it; null: a new one. */
  readonly before: Account | null
  readonly onSaved: () => void
  readonly onClose: () => void
}

const path = '/accounts'

export function AccountDialog({ before, onSaved, onClose }: AccountDialogProps) {
  return (
    <ObjectDialog<Account>
      title={before ? `Account ${before.name}` : 'New account'}
      id={before?.id ?? null}
      {...{ path, onClose }}
    >
      {(was) => <AccountForm {...{ was, onSaved, onClose }} />}
    </ObjectDialog>
  )
}

interface AccountFormProps extends Omit<AccountDialogProps, 'before'> {
  readonly was: Was<Account> | null
}

function AccountForm({ was, onSaved, onClose }: AccountFormProps) {
  const deed = useDeed()
  const before = was?.value ?? null
  const draft = useDraft(before)
  // The system administrator alone assigns; within an organization a new account is its user at once.
  const isAssigner = readWho()?.role === 'system' && before?.systemAdministrator !== true
  const submit = (): void => {
    const { name, email, password, locked, memberOf } = draft
    const body = {
      ...{ name: name.value, email: email.value, locked: locked.value },
      ...(password.value === '' ? {} : { password: password.value }),
      ...(isAssigner ? { organizations: memberOf.value.map((id) => ({ id })) } : {}),
    }
    const undoBody = before && findUndo(before, draft)
    void saveObject(deed, { path, was, body, undoBody, then: onSaved, close: onClose }) // never rejects
  }
  const { error } = deed
  return (
    <Form
      deed={deed}
      verb={was ? 'Save' : 'Make'}
      names={['name', 'email', 'password']}
      onSubmit={submit}
      onCancel={onClose}
      onReadAgain={was?.readAgain}
    >
      <TextField
        label="Name"
        name="name"
        hint="What is typed to log in; no other account may have it"
        value={draft.name}
        error={error}
        required
        autoFocus
      />
      <TextField label="Email" name="email" type="email" value={draft.email} error={error} />
      <TextField
        label="Password"
        name="password"
        type="password"
        autoComplete="new-password"
        hint={
          was
            ? 'Empty: the one it has. A new one, of at least 12 characters, ends all its sessions.'
            : 'At least 12 characters'
        }
        value={draft.password}
        error={error}
        required={was === null}
      />
      {isAssigner && <OrganizationsField value={draft.memberOf} />}
      <CheckField
        label="Locked"
        hint="It cannot log in, and its tokens are worth nothing"
        value={draft.locked}
      />
    </Form>
  )
}

const blank = { name: '', email: '', locked: false, organizations: [] }

function useDraft(before: Account | null) {
  const { name, email, locked, organizations } = before ?? blank
  return {
    name: useSignal(name),
    email: useSignal(email),
    password: useSignal(''),
    locked: useSignal(locked),
    memberOf: useSignal<readonly number[]>(organizations.map(({ id }) => id)),
  }
}

/** Who leaves an organization loses permissions that no call brings back, and the old password is not known. */
function findUndo(before: Account, { password, memberOf }: ReturnType<typeof useDraft>) {
  const { name, email, locked, organizations } = before
  const isSameMember =
    organizations.length === memberOf.value.length &&
    organizations.every(({ id }) => memberOf.value.includes(id))
  return isSameMember && password.value === '' ? { name, email, locked } : null
}

function OrganizationsField({ value }: { readonly value: Signal<readonly number[]> }) {
  const { rows } = useList<Organization>('/organizations', { query: { sort: 'name' } })
  return (
    <PickField
      label="Organizations"
      options={rows}
      value={value}
      hint="The first account of an organization becomes its administrator, later ones get no permissions by it"
    />
  )
}
