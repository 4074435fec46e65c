/** Identity providers, where users of an organization log in. A client secret can be written but never read. */
import { idp, type Idp } from '../../../resources/idp.js'
import { defaultOf } from '../../../resources/resource.js'
import { textColumn } from '../../parts/columns.js'
import type { FormInputs } from '../../parts/input-form.js'
import { mayWrite } from '../../session/rights.js'
import { viewOf } from './administration-list.js'
import type { FormExtras } from './edit-dialog.js'
import { useOwner } from './owner-field.js'

export const View = viewOf<Idp>({
  title: 'Identity providers',
  path: '/idps',
  noun: 'identity provider',
  mayWrite: () => mayWrite('idp'),
  textOf: ({ organization, baseURL }) => `${organization.name} ${baseURL}`,
  columns: [
    textColumn('Organization', ({ organization }) => organization.name),
    textColumn('Address', ({ baseURL }) => baseURL),
    { title: 'Client', from: 'medium', show: ({ clientID }) => clientID },
    { title: 'Role claim', from: 'wide', show: ({ roleClaim }) => roleClaim || 'None' },
  ],
  actions: {
    isChangeable: true,
    nameOf: ({ organization }) => `the provider of ${organization.name}`,
    questionOf: ({ organization: { name }, baseURL }) => ({
      title: `Delete the identity provider of ${name}?`,
      text: `Users can no longer log in with ${baseURL}. Accounts created through it are kept.`,
      name,
    }),
  },
  edit: {
    titleOf: (before) =>
      before ? `Identity provider of ${before.organization.name}` : 'New identity provider',
    inputs: listInputs,
    blank: { scopes: defaultOf(idp.fields.scopes) },
    isUnfocused: true,
    useExtras: useProvider,
  },
  empty: {
    title: 'No identity providers yet',
    text: 'With one the people of an organization log in where they do anyway (OpenID Connect).',
  },
})

function useProvider(was: Idp | null): FormExtras {
  const owner = useOwner('Choose one')
  return {
    first: was === null && owner.field,
    last: (
      <p class="field-hint">
        What the provider has to know as redirect URI:{' '}
        <code>{`${location.origin}/api/v1/auth/oidc/callback`}</code>
      </p>
    ),
    toBody: (body) => ({ ...body, ...owner.read() }),
    // The old secret is unknown, and after a change of address the coordinator discards it.
    mayUndo: ({ clientSecret, baseURL }) => clientSecret === undefined && baseURL === was?.baseURL,
  }
}

function listInputs(isNew: boolean): FormInputs {
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
    scopes: {
      label: 'Scopes',
      type: 'words',
      hint: 'With blanks between them; openid is always asked for',
    },
    roleClaim: {
      label: 'Role claim',
      hint: 'Its values administrator, regular, tag:read, tag:write … decide at each login what people may. Empty: nothing is mapped.',
    },
  }
}
