/** Makes or changes an organization: name, lifetimes of its tokens, lock. */
import { useSignal } from '@preact/signals'
import { useDeed } from '../../api/deed.js'
import type { Organization } from '../../api/organization.js'
import { Dialog } from '../../parts/dialog.js'
import { CheckField, TextField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { saveObject } from './change-object.js'

export interface OrganizationDialogProps {
  readonly before: Organization | null
  readonly onSaved: () => void
  readonly onClose: () => void
}

export function OrganizationDialog({ before, onSaved, onClose }: OrganizationDialogProps) {
  const deed = useDeed()
  const name = useSignal(before?.name ?? '')
  const accessTtl = useSignal(String(before?.accessTTL ?? 600))
  const refreshTtl = useSignal(String(before?.refreshTTL ?? 3600))
  const locked = useSignal(before?.locked ?? false)
  const submit = (): void => {
    const body = {
      name: name.value,
      accessTTL: Number(accessTtl.value),
      refreshTTL: Number(refreshTtl.value),
      locked: locked.value,
    }
    void saveObject(deed, { path: '/organizations', before, body }, () => {
      onSaved()
      onClose()
    })
  }
  const { error } = deed
  return (
    <Dialog title={before ? `Organization ${before.name}` : 'New organization'} onClose={onClose}>
      <Form
        deed={deed}
        verb={before ? 'Save' : 'Make'}
        names={['name', 'accessTTL', 'refreshTTL']}
        onSubmit={submit}
        onCancel={onClose}
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
    </Dialog>
  )
}
