/** Makes or changes an account: name, password, lock, and where it is a user. */
import { useSignal, type Signal } from '@preact/signals'
import type { Account } from '../../api/account.js'
import { useDeed } from '../../api/deed.js'
import { useList } from '../../api/list.js'
import type { Organization } from '../../api/organization.js'
import { Dialog } from '../../parts/dialog.js'
import { CheckField, TextField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { PickField } from '../../parts/pick-field.js'
import { readWho } from '../../session/rights.js'
import { saveObject } from './change-object.js'

export interface AccountDialogProps {
  readonly before: Account | null
  readonly onSaved: () => void
  readonly onClose: () => void
}

export function AccountDialog({ before, onSaved, onClose }: AccountDialogProps) {
  const deed = useDeed()
  const name = useSignal(before?.name ?? '')
  const email = useSignal(before?.email ?? '')
  const password = useSignal('')
  const locked = useSignal(before?.locked ?? false)
  const memberOf = useSignal<readonly number[]>(before?.organizations.map(({ id }) => id) ?? [])
  // The system administrator alone assigns; within an organization a new account is its user at once.
  const isAssigner = readWho()?.role === 'system' && before?.systemAdministrator !== true
  const submit = (): void => {
    const organizations = memberOf.value.map((id) => ({ id }))
    const body = {
      ...{ name: name.value, email: email.value, locked: locked.value },
      ...(password.value === '' ? {} : { password: password.value }),
      ...(isAssigner ? { organizations } : {}),
    }
    const wasMemberOf = before?.organizations.map(({ id }) => id) ?? []
    const isSameMember =
      wasMemberOf.length === organizations.length &&
      wasMemberOf.every((id) => memberOf.value.includes(id))
    // Who leaves an organization loses permissions that no call brings back; nor is the old password known.
    const canUndo = before !== null && isSameMember && password.value === ''
    const undoBody = canUndo
      ? { name: before.name, email: before.email, locked: before.locked }
      : null
    void saveObject(deed, { path: '/accounts', before, body, undoBody }, () => {
      onSaved()
      onClose()
    })
  }
  const { error } = deed
  return (
    <Dialog title={before ? `Account ${before.name}` : 'New account'} onClose={onClose}>
      <Form
        deed={deed}
        verb={before ? 'Save' : 'Make'}
        names={['name', 'email', 'password']}
        onSubmit={submit}
        onCancel={onClose}
      >
        <TextField
          label="Name"
          name="name"
          hint="What is typed to log in; no other account may have it"
          value={name}
          error={error}
          required
          autoFocus
        />
        <TextField label="Email" name="email" type="email" value={email} error={error} />
        <TextField
          label="Password"
          name="password"
          type="password"
          autoComplete="new-password"
          hint={
            before
              ? 'Empty: the one it has. A new one, of at least 12 characters, ends all its sessions.'
              : 'At least 12 characters'
          }
          value={password}
          error={error}
          required={before === null}
        />
        {isAssigner && <OrganizationsField value={memberOf} />}
        <CheckField
          label="Locked"
          hint="It cannot log in, and its tokens are worth nothing"
          value={locked}
        />
      </Form>
    </Dialog>
  )
}

function OrganizationsField({ value }: { readonly value: Signal<readonly number[]> }) {
  const { rows } = useList<Organization>('/organizations')
  return (
    <PickField
      label="Organizations"
      options={rows}
      value={value}
      hint="The first account of an organization becomes its administrator, later ones get no permissions by it"
    />
  )
}
