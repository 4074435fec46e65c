/** API tokens: for programs, with a part of their maker's rights. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { useList } from '../../api/list.js'
import type { Session } from '../../api/session.js'
import { agoColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { Labels } from '../../parts/state-chip.js'
import { NewButton } from '../../parts/new-button.js'
import type { Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { mayWrite } from '../../session/rights.js'
import { useSearchText } from '../../shell/address.js'
import { AdministrationHead } from './administration-head.js'
import { useRemoval } from './change-object.js'
import { toIso } from './lifetime.js'
import { ObjectList } from '../../parts/object-list.js'
import { RowDeeds } from './row-deeds.js'
import { TokenDialog } from './token-dialog.js'

export function View() {
  const list = useList<Session>('/sessions')
  const text = useSearchText()
  const isMaking = useSignal(false)
  const { deed, remove } = useRemoval(list.reload)
  const isWriter = mayWrite('session')
  const columns = useMemo(() => {
    if (!isWriter) return facts
    return [
      ...facts,
      deleteColumn((one) => void remove(questionOf(one), `/sessions/${one.id}`, 'Deleted.')),
    ]
  }, [isWriter, list.reload])
  const tokens = { ...list, rows: list.rows.filter(({ label }) => label !== '') }
  const shown = tokens.rows.filter(({ label, account }) =>
    `${label} ${account.name}`.toLowerCase().includes(text),
  )
  const makeNew = (): void => {
    isMaking.value = true
  }
  return (
    <>
      <AdministrationHead title="API tokens">
        {isWriter && <NewButton noun="API token" onPress={makeNew} />}
      </AdministrationHead>
      <ObjectList
        {...{ columns, list: tokens, problem: deed.error }}
        label="API tokens"
        rows={shown}
      >
        <Empty icon="administration" title="No API tokens yet">
          <p>Make one for each program that calls the API, with no more rights than it needs.</p>
        </Empty>
      </ObjectList>
      {isMaking.value && (
        <TokenDialog
          onMade={list.reload}
          onClose={() => {
            isMaking.value = false
          }}
        />
      )}
    </>
  )
}

const facts: readonly Column<Session>[] = [
  { title: 'Label', show: ({ label }) => label, sortBy: ({ label }) => label },
  {
    title: 'Of',
    from: 'wide',
    show: ({ account }) => account.name,
    sortBy: ({ account }) => account.name,
  },
  {
    title: 'May',
    from: 'medium',
    show: ({ permissions }) => (
      <Labels
        words={(permissions ?? []).map(({ type, write }) => (write ? type : `${type}:read`))}
      />
    ),
  },
  agoColumn('Last used', ({ lastUsed }) => lastUsed, { from: 'wide' }),
  {
    title: 'Ends',
    width: '15rem',
    from: 'medium',
    show: ({ accessExpire }) => <Time at={toIso(accessExpire)} />,
    sortBy: ({ accessExpire }) => accessExpire,
  },
]

function deleteColumn(remove: (one: Session) => void): Column<Session> {
  return {
    title: 'Delete',
    width: '5rem',
    isEnd: true,
    show: (one) => (
      <RowDeeds
        name={one.label}
        onDelete={() => {
          remove(one)
        }}
      />
    ),
  }
}

function questionOf({ label }: Session) {
  return {
    title: `Delete the API token ${label}?`,
    text: 'Programs that use it are refused within 5 seconds. It cannot be brought back.',
    verb: 'Delete',
    name: label,
  }
}
