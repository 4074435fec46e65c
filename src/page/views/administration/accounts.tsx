/** The accounts: who may log in. */
import { useMemo } from 'preact/hooks'
import type { Account } from '../../api/account.js'
import { useList } from '../../api/list.js'
import { agoColumn, lockedColumn, nameColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { Labels } from '../../parts/state-chip.js'
import { NewButton } from '../../parts/new-button.js'
import type { Column } from '../../parts/table.js'
import { mayWrite } from '../../session/rights.js'
import { useSearchText } from '../../shell/address.js'
import { AccountDialog } from './account-dialog.js'
import { AdministrationHead } from './administration-head.js'
import { useEdited, useRemoval } from './change-object.js'
import { ObjectList } from '../../parts/object-list.js'
import { deedsColumn } from './row-deeds.js'

export function View() {
  const list = useList<Account>('/accounts')
  const text = useSearchText()
  const { edit, makeNew, asked } = useEdited<Account>()
  const { deed, remove } = useRemoval(list.reload)
  const isWriter = mayWrite('account')
  const columns = useMemo(() => {
    if (!isWriter) return facts
    return [
      ...facts,
      deedsColumn(
        ({ name }) => name,
        edit,
        (one) => void remove(questionOf(one), `/accounts/${one.id}`, 'Deleted.'),
      ),
    ]
  }, [isWriter, list.reload])
  const shown = list.rows.filter(({ name, email }) =>
    `${name} ${email}`.toLowerCase().includes(text),
  )

  return (
    <>
      <AdministrationHead title="Accounts">
        {isWriter && <NewButton noun="account" onPress={makeNew} />}
      </AdministrationHead>
      <ObjectList label="Accounts" rows={shown} {...{ list, columns, problem: deed.error }}>
        <Empty icon="administration" title="No accounts yet">
          <p>An account logs in with its name and a password.</p>
        </Empty>
      </ObjectList>
      {asked && <AccountDialog {...asked} onSaved={list.reload} />}
    </>
  )
}

const facts: readonly Column<Account>[] = [
  nameColumn(({ name }) => name),
  lockedColumn(),
  {
    title: 'Organizations',
    from: 'medium',
    show: ({ organizations, systemAdministrator }) =>
      systemAdministrator ? (
        'System administrator'
      ) : (
        <Labels words={organizations.map(({ name }) => name)} />
      ),
  },
  { title: 'Email', from: 'wide', show: ({ email }) => email, sortBy: ({ email }) => email },
  agoColumn('Made', ({ created }) => created, { from: 'wide' }),
]

function questionOf({ name }: Account) {
  return {
    title: `Delete the account ${name}?`,
    text: 'Its sessions and API tokens end, and its permissions go with it. This cannot be undone.',
    verb: 'Delete',
    name,
  }
}
