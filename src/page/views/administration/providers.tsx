/** Identity providers: where the people of an organization log in instead of here. A client secret goes in and never comes out. */
import type { Idp } from '../../api/idp.js'
import { useList } from '../../api/list.js'
import { textColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { readDraft, useDraft, type Inputs } from '../../parts/inputs.js'
import { ListView, type Asked, type RowDeeds } from '../../parts/list-view.js'
import type { Column } from '../../parts/table.js'
import { mayWrite } from '../../session/rights.js'
import { AdministrationHead } from './administration-head.js'
import { EditDialog, EditForm, type Edit } from './edit-dialog.js'
import { OwnerField, readOwner } from './owner-field.js'

export function View() {
  const isWriter = mayWrite('idp')
  return (
    <ListView
      title="Identity providers"
      Head={AdministrationHead}
      list={useList<Idp>('/idps')}
      textOf={({ organization, baseURL }) => `${organization.name} ${baseURL}`}
      columns={columns}
      noun={isWriter ? 'identity provider' : null}
      deeds={isWriter ? deeds : null}
      dialog={(asked) => <ProviderDialog {...asked} />}
      empty={
        <Empty icon="administration" title="No identity providers yet">
          <p>
            With one the people of an organization log in where they do anyway (OpenID Connect).
          </p>
        </Empty>
      }
    />
  )
}

const columns: readonly Column<Idp>[] = [
  textColumn('Organization', ({ organization }) => organization.name),
  textColumn('Address', ({ baseURL }) => baseURL),
  { title: 'Client', from: 'medium', show: ({ clientID }) => clientID },
  { title: 'Claim of the role', from: 'wide', show: ({ roleClaim }) => roleClaim || 'None' },
]

const deeds: RowDeeds<Idp> = {
  ...{ path: '/idps', verb: 'Delete', done: 'Deleted.', width: '6.5rem', isChangeable: true },
  nameOf: ({ organization }) => `the provider of ${organization.name}`,
  questionOf: ({ organization: { name }, baseURL }) => ({
    title: `Delete the identity provider of ${name}?`,
    text: `Nobody logs in by ${baseURL} any more. Accounts that came in by it stay.`,
    name,
  }),
}

function ProviderDialog(asked: Asked<Idp>) {
  const { before } = asked
  const of = before?.organization.name ?? ''
  const title = before ? `Identity provider of ${of}` : 'New identity provider'
  return (
    <EditDialog {...{ ...asked, title }} path="/idps">
      {(edit) => <ProviderForm edit={edit} />}
    </EditDialog>
  )
}

function ProviderForm({ edit }: { readonly edit: Edit<Idp> }) {
  const { baseURL, clientID, roleClaim, scopes } = edit.was?.value ?? blank
  const start = { baseURL, clientID, clientSecret: '', scopes: scopes.join(' '), roleClaim }
  const draft = useDraft({ ...start, owner: '' })
  const toBody = () => {
    const { clientSecret, owner, ...written } = readDraft(draft)
    return {
      ...written,
      scopes: written.scopes.split(/\s+/).filter((word) => word !== ''),
      ...(clientSecret === '' ? {} : { clientSecret }),
      ...readOwner(owner),
    }
  }
  // The secret that was is not known, and another address makes the coordinator forget it.
  const toUndoBody = () => {
    const isSecretKept = draft.clientSecret.value === '' && draft.baseURL.value === baseURL
    return isSecretKept ? (edit.was?.value ?? null) : null
  }
  const isNew = edit.was === null
  return (
    <EditForm
      {...{ edit, draft, toBody, toUndoBody, isFocused: false, inputs: listInputs(isNew) }}
      first={isNew && <OwnerField value={draft.owner} none="Choose one" />}
    >
      <p class="field-hint">
        What the provider has to know as redirect URI:{' '}
        <code>{`${location.origin}/api/v1/auth/oidc/callback`}</code>
      </p>
    </EditForm>
  )
}

const blank = { baseURL: '', clientID: '', roleClaim: '', scopes: ['openid', 'profile', 'email'] }

function listInputs(isNew: boolean) {
  return {
    baseURL: {
      label: 'Address',
      type: 'url',
      required: true,
      hint: 'Its issuer: https://idp.example.com/realms/web',
    },
    clientID: { label: 'Client', required: true },
    clientSecret: {
      label: 'Client secret',
      type: 'password',
      autoComplete: 'new-password',
      hint: isNew
        ? 'Empty: a client without one'
        : 'Empty: the one it has, none if the address changes',
    },
    scopes: { label: 'Scopes', hint: 'With blanks between them; openid is always asked for' },
    roleClaim: {
      label: 'Claim of the role',
      hint: 'Its values administrator, regular, tag:read, tag:write … decide at each login what people may. Empty: nothing is mapped.',
    },
  } satisfies Inputs
}
