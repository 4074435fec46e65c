/** The accounts: who may log in. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { Account } from '../../api/account.js'
import { useList } from '../../api/list.js'
import { Button } from '../../parts/button.js'
import { Empty } from '../../parts/empty.js'
import { Labels, StateChip } from '../../parts/state-chip.js'
import type { Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { mayWrite } from '../../session/rights.js'
import { useSearchText } from '../../shell/address.js'
import { AccountDialog } from './account-dialog.js'
import { AdministrationHead } from './administration-head.js'
import { useRemoval } from './change-object.js'
import { ObjectList } from '../../parts/object-list.js'
import { deedsColumn } from './row-deeds.js'

export function View() {
  const list = useList<Account>('/accounts')
  const text = useSearchText()
  const edited = useSignal<Account | 'new' | null>(null)
  const { deed, remove } = useRemoval(list.reload)
  const isWriter = mayWrite('account')
  const columns = useMemo(() => {
    if (!isWriter) return facts
    const edit = (account: Account): void => {
      edited.value = account
    }
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
        {isWriter && (
          <Button
            kind="main"
            icon="add"
            onClick={() => {
              edited.value = 'new'
            }}
          >
            New account
          </Button>
        )}
      </AdministrationHead>
      <ObjectList label="Accounts" rows={shown} {...{ list, columns, problem: deed.error }}>
        <Empty icon="administration" title="No accounts yet">
          <p>An account logs in with its name and a password.</p>
        </Empty>
      </ObjectList>
      {edited.value && (
        <AccountDialog
          before={edited.value === 'new' ? null : edited.value}
          onSaved={list.reload}
          onClose={() => {
            edited.value = null
          }}
        />
      )}
    </>
  )
}

const facts: readonly Column<Account>[] = [
  { title: 'Name', show: ({ name }) => name, sortBy: ({ name }) => name },
  {
    title: 'State',
    width: '7.5rem',
    show: ({ locked }) =>
      locked ? <StateChip state="Locked" /> : <StateChip state="Open" tone="good" />,
    sortBy: ({ locked }) => Number(locked),
  },
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
  {
    title: 'Made',
    width: '9rem',
    from: 'wide',
    show: ({ created }) => <Time at={created} isAgo />,
    sortBy: ({ created }) => created,
  },
]

function questionOf({ name }: Account) {
  return {
    title: `Delete the account ${name}?`,
    text: 'Its sessions and API tokens end, and its permissions go with it. This cannot be undone.',
    verb: 'Delete',
    name,
  }
}
