/** Makes or changes an organization: name, lifetimes of its tokens, lock. */
import { useSignal } from '@preact/signals'
import { useDeed } from '../../api/deed.js'
import type { Organization } from '../../api/organization.js'
import { CheckField, TextField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { saveObject } from './change-object.js'
import { ObjectDialog, type Was } from './object-dialog.js'

export interface OrganizationDialogProps {
  /** As the list has it; null: a new one. */
  readonly before: Organization | null
  readonly onSaved: () => void
  readonly onClose: () => void
}

const path = '/organizations'

export function OrganizationDialog({ before, onSaved, onClose }: OrganizationDialogProps) {
  return (
    <ObjectDialog<Organization>
      title={before ? `Organization ${before.name}` : 'New organization'}
      id={before?.id ?? null}
      {...{ path, onClose }}
    >
      {(was) => <OrganizationForm {...{ was, onSaved, onClose }} />}
    </ObjectDialog>
  )
}

interface OrganizationFormProps extends Omit<OrganizationDialogProps, 'before'> {
  readonly was: Was<Organization> | null
}

const blank = { name: '', accessTTL: 600, refreshTTL: 3600, locked: false }

function OrganizationForm({ was, onSaved, onClose }: OrganizationFormProps) {
  const deed = useDeed()
  const before = was?.value ?? blank
  const name = useSignal(before.name)
  const accessTtl = useSignal(String(before.accessTTL))
  const refreshTtl = useSignal(String(before.refreshTTL))
  const locked = useSignal(before.locked)
  const submit = (): void => {
    const body = {
      name: name.value,
      accessTTL: Number(accessTtl.value),
      refreshTTL: Number(refreshTtl.value),
      locked: locked.value,
    }
    void saveObject(deed, { path, was, body, then: onSaved, close: onClose }) // never rejects
  }
  const { error } = deed
  return (
    <Form
      deed={deed}
      verb={was ? 'Save' : 'Make'}
      names={['name', 'accessTTL', 'refreshTTL']}
      onSubmit={submit}
      onCancel={onClose}
      onReadAgain={was?.readAgain}
    >
      <TextField label="Name" name="name" value={name} error={error} required autoFocus />
      <TextField
        label="Access token lives"
        name="accessTTL"
        type="number"
        hint="Seconds"
        value={accessTtl}
        error={error}
        required
      />
      <TextField
        label="Refresh token lives"
        name="refreshTTL"
        type="number"
        hint="Seconds, at least as long: after so long without use people log in again"
        value={refreshTtl}
        error={error}
        required
      />
      <CheckField
        label="Locked"
        hint="Nobody logs in to it, and its tokens are worth nothing"
        value={locked}
      />
    </Form>
  )
}
