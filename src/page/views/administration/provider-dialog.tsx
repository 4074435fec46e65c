/** Makes or changes an identity provider. Its client secret goes in and never comes out. */
import { useSignal } from '@preact/signals'
import { useDeed } from '../../api/deed.js'
import type { Idp } from '../../api/idp.js'
import { TextField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { saveObject } from './change-object.js'
import { ObjectDialog, type Was } from './object-dialog.js'
import { OwnerField, readOwner } from './owner-field.js'

export interface ProviderDialogProps {
  /** As the list has it; null: a new one. */
  readonly before: Idp | null
  readonly onSaved: () => void
  readonly onClose: () => void
}

const path = '/idps'

export function ProviderDialog({ before, onSaved, onClose }: ProviderDialogProps) {
  return (
    <ObjectDialog<Idp>
      title={before ? `Identity provider of ${before.organization.name}` : 'New identity provider'}
      id={before?.id ?? null}
      {...{ path, onClose }}
    >
      {(was) => <ProviderForm {...{ was, onSaved, onClose }} />}
    </ObjectDialog>
  )
}

interface ProviderFormProps extends Omit<ProviderDialogProps, 'before'> {
  readonly was: Was<Idp> | null
}

function ProviderForm({ was, onSaved, onClose }: ProviderFormProps) {
  const deed = useDeed()
  const { baseURL, clientID, roleClaim: claim, scopes: words } = was?.value ?? blank
  const baseUrl = useSignal(baseURL)
  const clientId = useSignal(clientID)
  const clientSecret = useSignal('')
  const scopes = useSignal(words.join(' '))
  const roleClaim = useSignal(claim)
  const owner = useSignal('')
  const submit = (): void => {
    const body = {
      ...{ baseURL: baseUrl.value, clientID: clientId.value, roleClaim: roleClaim.value },
      scopes: scopes.value.split(/\s+/).filter((word) => word !== ''),
      ...(clientSecret.value === '' ? {} : { clientSecret: clientSecret.value }),
      ...readOwner(owner),
    }
    // The secret that was is not known, and another address makes the coordinator forget it.
    const isSecretKept = clientSecret.value === '' && baseUrl.value === baseURL
    const undo = isSecretKept ? {} : { undoBody: null }
    void saveObject(deed, { path, was, body, ...undo, then: onSaved, close: onClose }) // never rejects
  }
  const { error } = deed
  return (
    <Form
      deed={deed}
      verb={was ? 'Save' : 'Make'}
      names={names}
      onSubmit={submit}
      onCancel={onClose}
      onReadAgain={was?.readAgain}
    >
      {was === null && <OwnerField value={owner} none="Choose one" />}
      <TextField
        label="Address"
        name="baseURL"
        type="url"
        hint="Its issuer: https://idp.example.com/realms/web"
        value={baseUrl}
        error={error}
        required
      />
      <TextField label="Client" name="clientID" value={clientId} error={error} required />
      <TextField
        label="Client secret"
        name="clientSecret"
        type="password"
        autoComplete="new-password"
        hint={
          was ? 'Empty: the one it has, none if the address changes' : 'Empty: a client without one'
        }
        value={clientSecret}
        error={error}
      />
      <TextField
        label="Scopes"
        name="scopes"
        hint="With blanks between them; openid is always asked for"
        value={scopes}
        error={error}
      />
      <TextField
        label="Claim of the role"
        name="roleClaim"
        hint="Its values administrator, regular, tag:read, tag:write … decide at each login what people may. Empty: nothing is mapped."
        value={roleClaim}
        error={error}
      />
      <p class="field-hint">
        What the provider has to know as redirect URI:{' '}
        <code>{`${location.origin}/api/v1/auth/oidc/callback`}</code>
      </p>
    </Form>
  )
}

const blank = { baseURL: '', clientID: '', roleClaim: '', scopes: ['openid', 'profile', 'email'] }
const names = ['baseURL', 'clientID', 'clientSecret', 'scopes', 'roleClaim']
