/** API tokens for programs, with some of the permissions of the user who creates them. */
import { useSignal } from '@preact/signals'
import type { Access, Grants, PermissionType } from '../../../resources/permission.js'
import { toPermissions } from '../../../resources/permission.js'
import type { ApiToken, Session } from '../../../resources/session.js'
import { agoColumn, labelsColumn, textColumn } from '../../parts/columns.js'
import type { FormInputs } from '../../parts/input-form.js'
import { mayRead, mayWrite } from '../../session/rights.js'
import { endColumn } from './administration-head.js'
import { viewOf } from './administration-list.js'
import { SecretDialog } from './copy-box.js'
import type { FormExtras } from './edit-dialog.js'
import { GrantGrid } from './grant-grid.js'
import { toExpiry } from './lifetime.js'

export const View = viewOf<Session>({
  title: 'API tokens',
  path: '/sessions',
  isShown: ({ label }) => label !== '',
  noun: 'API token',
  mayWrite: () => mayWrite('session'),
  textOf: ({ label, account }) => `${label} ${account.name}`,
  columns: [
    textColumn('Label', ({ label }) => label),
    textColumn('Of', ({ account }) => account.name, { from: 'wide' }),
    labelsColumn(
      'May',
      ({ permissions }) =>
        (permissions ?? []).map(({ type, write }) => (write ? type : `${type}:read`)),
      { from: 'medium' },
    ),
    agoColumn('Last used', ({ lastUsed }) => lastUsed, { from: 'wide' }),
    endColumn('Expires', ({ accessExpire }) => accessExpire, { from: 'medium' }),
  ],
  actions: {
    nameOf: ({ label }) => label,
    questionOf: ({ label }) => ({
      title: `Delete the API token ${label}?`,
      text: 'Programs that use it are refused within 5 seconds. It cannot be brought back.',
      name: label,
    }),
  },
  edit: {
    titleOf: () => 'New API token',
    inputs: () => inputs,
    blank: { expire: 90 },
    useExtras: useGrants,
    showCreated: ({ label, accessToken }: ApiToken, onClose) => (
      <SecretDialog
        onClose={onClose}
        title={`API token ${label}`}
        secret={accessToken}
        first={<p>It is shown only this once. Store it where the program finds it.</p>}
      />
    ),
  },
  empty: {
    title: 'No API tokens yet',
    text: 'Create one for each program that calls the API, with no more rights than it needs.',
  },
})

const inputs: FormInputs = {
  label: { label: 'Label', hint: 'The program that it is for', required: true },
  expire: { label: 'Expires after (days)', type: 'number', hint: 'At most a year', required: true },
}

function useGrants(): FormExtras {
  const grants = useSignal<Grants>({})
  return {
    last: <GrantGrid label="What it may" value={grants} whyNot={whyNotYours} />,
    toBody: ({ expire, ...body }) => ({
      ...body,
      // The API refuses text that is not a number of days.
      expire: toExpiry(String(expire), Date.now()),
      permissions: toPermissions(grants.value),
    }),
  }
}

function whyNotYours(type: PermissionType, access: Access): string | null {
  const isYours = access === 'write' ? mayWrite(type) : mayRead(type)
  return isYours ? null : `you may not ${access} this yourself`
}
