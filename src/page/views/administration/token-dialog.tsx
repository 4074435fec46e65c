/** Makes an API token, and shows it this once. */
import { useSignal } from '@preact/signals'
import { call } from '../../api/call.js'
import { useDeed } from '../../api/deed.js'
import type { MadeApiToken } from '../../api/session.js'
import type { PermissionType } from '../../api/whoami.js'
import { Button } from '../../parts/button.js'
import { Dialog } from '../../parts/dialog.js'
import { TextField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { mayRead, mayWrite } from '../../session/rights.js'
import { CopyBox } from './copy-box.js'
import { GrantGrid } from './grant-grid.js'
import { toPermissions, type Access, type Grants } from './grants.js'
import { toExpiry } from './lifetime.js'

export interface TokenDialogProps {
  readonly onMade: () => void
  readonly onClose: () => void
}

export function TokenDialog({ onMade, onClose }: TokenDialogProps) {
  const made = useSignal<MadeApiToken | null>(null)
  if (made.value)
    return (
      <Dialog title={`API token ${made.value.label}`} onClose={onClose}>
        <div class="stack">
          <p>This is the only time that it is shown. Keep it where the program finds it.</p>
          <CopyBox title="Token" text={made.value.accessToken} />
          <div class="dialog-foot">
            <Button kind="main" onClick={onClose}>
              Done
            </Button>
          </div>
        </div>
      </Dialog>
    )
  return (
    <Dialog title="New API token" onClose={onClose}>
      <TokenForm
        onCancel={onClose}
        onMade={(token) => {
          made.value = token
          onMade()
        }}
      />
    </Dialog>
  )
}

interface TokenFormProps {
  readonly onMade: (token: MadeApiToken) => void
  readonly onCancel: () => void
}

function TokenForm({ onMade, onCancel }: TokenFormProps) {
  const deed = useDeed()
  const label = useSignal('')
  const days = useSignal('90')
  const grants = useSignal<Grants>({})
  const submit = (): void => {
    const body = {
      label: label.value,
      // What is no number of days the API refuses in its words.
      expire: toExpiry(days.value, Date.now()),
      permissions: toPermissions(grants.value),
    }
    void deed.run(() => call<MadeApiToken>('POST', '/sessions', { body }), onMade)
  }
  const { error } = deed
  return (
    <Form deed={deed} verb="Make" names={['label', 'expire']} onSubmit={submit} onCancel={onCancel}>
      <TextField
        label="Label"
        name="label"
        hint="The program that it is for"
        value={label}
        error={error}
        required
        autoFocus
      />
      <TextField
        label="Days until it ends"
        name="expire"
        type="number"
        hint="At most a year"
        value={days}
        error={error}
        required
      />
      <GrantGrid label="What it may" value={grants} whyNot={whyNotYours} />
    </Form>
  )
}

function whyNotYours(type: PermissionType, access: Access): string | null {
  const isYours = access === 'write' ? mayWrite(type) : mayRead(type)
  return isYours ? null : `you may not ${access} this yourself`
}
