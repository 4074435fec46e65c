/** The organizations: made and changed by the system administrator; within one only that is seen. */
import { useList } from '../../api/list.js'
import type { Organization } from '../../api/organization.js'
import { agoColumn, textColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { CheckField } from '../../parts/field.js'
import { readDraft, useDraft, type Inputs } from '../../parts/inputs.js'
import { ListView, type Asked, type RowDeeds } from '../../parts/list-view.js'
import type { Column } from '../../parts/table.js'
import { readWho } from '../../session/rights.js'
import { AdministrationHead, lockedColumn } from './administration-head.js'
import { EditDialog, EditForm, type Edit } from './edit-dialog.js'

export function View() {
  const isSystem = readWho()?.role === 'system'
  return (
    <ListView
      title="Organizations"
      Head={AdministrationHead}
      list={useList<Organization>('/organizations')}
      textOf={({ name }) => name}
      columns={columns}
      noun={isSystem ? 'organization' : null}
      deeds={isSystem ? deeds : null}
      dialog={(asked) => <OrganizationDialog {...asked} />}
      empty={
        <Empty icon="administration" title="No organizations yet">
          <p>
            Without one the fleet is the system administrator's alone. Each organization sees its
            own files, groups and domains, and its users get permissions there.
          </p>
        </Empty>
      }
    />
  )
}

const secondsShape = { width: '11rem', from: 'wide', isEnd: true } as const

const columns: readonly Column<Organization>[] = [
  textColumn('Name', ({ name }) => name),
  lockedColumn(),
  {
    ...{ title: 'Access token lives', ...secondsShape },
    show: ({ accessTTL }) => `${accessTTL} s`,
    sortBy: ({ accessTTL }) => accessTTL,
  },
  {
    ...{ title: 'Refresh token lives', ...secondsShape },
    show: ({ refreshTTL }) => `${refreshTTL} s`,
    sortBy: ({ refreshTTL }) => refreshTTL,
  },
  agoColumn('Made', ({ created }) => created, { from: 'medium' }),
]

const deeds: RowDeeds<Organization> = {
  ...{ path: '/organizations', verb: 'Delete', done: 'Deleted.' },
  ...{ width: '6.5rem', isChangeable: true },
  nameOf: ({ name }) => name,
  questionOf: ({ name }) => ({
    title: `Delete the organization ${name}?`,
    text: 'Its users and their tokens go with it. While it owns anything else it is not deleted.',
    name,
  }),
}

function OrganizationDialog(asked: Asked<Organization>) {
  const title = asked.before ? `Organization ${asked.before.name}` : 'New organization'
  return (
    <EditDialog {...{ ...asked, title }} path="/organizations">
      {(edit) => <OrganizationForm edit={edit} />}
    </EditDialog>
  )
}

function OrganizationForm({ edit }: { readonly edit: Edit<Organization> }) {
  const { name, accessTTL, refreshTTL, locked } = edit.was?.value ?? blank
  const ttls = { accessTTL: String(accessTTL), refreshTTL: String(refreshTTL) }
  const draft = useDraft({ name, ...ttls, locked })
  const toBody = () => {
    const { accessTTL, refreshTTL, ...written } = readDraft(draft)
    return { ...written, accessTTL: Number(accessTTL), refreshTTL: Number(refreshTTL) }
  }
  return (
    <EditForm {...{ edit, draft, inputs, toBody }}>
      <CheckField
        label="Locked"
        hint="Nobody logs in to it, and its tokens are worth nothing"
        value={draft.locked}
      />
    </EditForm>
  )
}

const blank = { name: '', accessTTL: 600, refreshTTL: 3600, locked: false }

const inputs = {
  name: { label: 'Name', required: true },
  accessTTL: { label: 'Access token lives', type: 'number', hint: 'Seconds', required: true },
  refreshTTL: {
    label: 'Refresh token lives',
    type: 'number',
    required: true,
    hint: 'Seconds, at least as long: after so long without use people log in again',
  },
} satisfies Inputs
