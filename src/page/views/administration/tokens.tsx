/** API tokens: for programs, with a part of their maker's rights. */
import { useSignal } from '@preact/signals'
import { call } from '../../api/call.js'
import { useDeed } from '../../api/deed.js'
import { useList } from '../../api/list.js'
import type { MadeApiToken, Session } from '../../api/session.js'
import type { PermissionType } from '../../../resources/permission.js'
import { agoColumn, labelsColumn, textColumn } from '../../parts/columns.js'
import { Dialog } from '../../parts/dialog.js'
import { Empty } from '../../parts/empty.js'
import { Form } from '../../parts/form.js'
import { TextInputs, useDraft } from '../../parts/inputs.js'
import { ListView, type Asked, type RowDeeds } from '../../parts/list-view.js'
import type { Column } from '../../parts/table.js'
import { mayRead, mayWrite } from '../../session/rights.js'
import { AdministrationHead, endColumn } from './administration-head.js'
import { SecretDialog } from './copy-box.js'
import { GrantGrid } from './grant-grid.js'
import { toPermissions, type Access, type Grants } from './grants.js'
import { toExpiry } from './lifetime.js'

export function View() {
  const list = useList<Session>('/sessions')
  const isWriter = mayWrite('session')
  return (
    <ListView
      title="API tokens"
      Head={AdministrationHead}
      list={{ ...list, rows: list.rows.filter(({ label }) => label !== '') }}
      textOf={({ label, account }) => `${label} ${account.name}`}
      columns={columns}
      noun={isWriter ? 'API token' : null}
      deeds={isWriter ? deeds : null}
      dialog={(asked) => <TokenDialog {...asked} />}
      empty={
        <Empty icon="administration" title="No API tokens yet">
          <p>Make one for each program that calls the API, with no more rights than it needs.</p>
        </Empty>
      }
    />
  )
}

const columns: readonly Column<Session>[] = [
  textColumn('Label', ({ label }) => label),
  textColumn('Of', ({ account }) => account.name, { from: 'wide' }),
  labelsColumn(
    'May',
    ({ permissions }) =>
      (permissions ?? []).map(({ type, write }) => (write ? type : `${type}:read`)),
    { from: 'medium' },
  ),
  agoColumn('Last used', ({ lastUsed }) => lastUsed, { from: 'wide' }),
  endColumn('Ends', ({ accessExpire }) => accessExpire, { from: 'medium' }),
]

const deeds: RowDeeds<Session> = {
  ...{ path: '/sessions', verb: 'Delete', done: 'Deleted.' },
  nameOf: ({ label }) => label,
  questionOf: ({ label }) => ({
    title: `Delete the API token ${label}?`,
    text: 'Programs that use it are refused within 5 seconds. It cannot be brought back.',
    name: label,
  }),
}

/** Makes a token, and shows it this once. */
function TokenDialog({ onSaved, onClose }: Asked<Session>) {
  const made = useSignal<MadeApiToken | null>(null)
  const deed = useDeed()
  const draft = useDraft({ label: '', expire: '90' })
  const grants = useSignal<Grants>({})
  if (made.value)
    return (
      <SecretDialog
        {...{ onClose, title: `API token ${made.value.label}`, secret: made.value.accessToken }}
        first={<p>This is the only time that it is shown. Keep it where the program finds it.</p>}
      />
    )
  const submit = (): void => {
    const body = {
      label: draft.label.value,
      // What is no number of days the API refuses in its words.
      expire: toExpiry(draft.expire.value, Date.now()),
      permissions: toPermissions(grants.value),
    }
    void deed.run(
      () => call<MadeApiToken>('POST', '/sessions', { body }),
      (token) => {
        made.value = token
        onSaved()
      },
    )
  }
  return (
    <Dialog title="New API token" onClose={onClose}>
      <Form
        {...{ deed, verb: 'Make', names: Object.keys(inputs) }}
        onSubmit={submit}
        onCancel={onClose}
      >
        <TextInputs of={inputs} draft={draft} error={deed.error} />
        <GrantGrid label="What it may" value={grants} whyNot={whyNotYours} />
      </Form>
    </Dialog>
  )
}

const inputs = {
  label: { label: 'Label', hint: 'The program that it is for', required: true },
  expire: { label: 'Days until it ends', type: 'number', hint: 'At most a year', required: true },
} as const

function whyNotYours(type: PermissionType, access: Access): string | null {
  const isYours = access === 'write' ? mayWrite(type) : mayRead(type)
  return isYours ? null : `you may not ${access} this yourself`
}
