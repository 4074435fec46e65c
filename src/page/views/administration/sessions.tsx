/** The logins that live, one's own among them; each can be ended. */
import { useMemo } from 'preact/hooks'
import { useList } from '../../api/list.js'
import type { Session } from '../../api/session.js'
import { confirmDestruction } from '../../parts/confirm.js'
import { agoColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { StateChip } from '../../parts/state-chip.js'
import type { Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { logOut } from '../../session/access.js'
import { mayWrite, readWho } from '../../session/rights.js'
import { useSearchText } from '../../shell/address.js'
import { AdministrationHead } from './administration-head.js'
import { useRemoval } from './change-object.js'
import { toIso } from './lifetime.js'
import { ObjectList } from '../../parts/object-list.js'
import { RowDeeds } from './row-deeds.js'

export function View() {
  const list = useList<Session>('/sessions')
  const text = useSearchText()
  const { deed, remove } = useRemoval(list.reload)
  const isWriter = mayWrite('session')
  const who = readWho()
  const own = { session: who?.session.id, account: who?.account.id }
  const columns = useMemo(() => {
    const isOwn = ({ id }: Session): boolean => id === own.session
    const end = (one: Session): void => {
      if (isOwn(one)) void leave()
      else void remove(questionOf(one), `/sessions/${one.id}`, 'Ended.')
    }
    return [...listFacts(own), endColumn(end, (one) => isWriter || isOwn(one))]
  }, [isWriter, own.session, own.account, list.reload])
  const logins = { ...list, rows: list.rows.filter(({ label }) => label === '') }
  const shown = logins.rows.filter(({ account, organization }) =>
    `${account.name} ${organization?.name ?? ''}`.toLowerCase().includes(text),
  )
  return (
    <>
      <AdministrationHead title="Sessions" />
      <ObjectList
        {...{ columns, list: logins, problem: deed.error }}
        label="Sessions"
        rows={shown}
        sorting={{ title: 'Last used', isDescending: true }}
      >
        <Empty icon="administration" title="Nobody is logged in" />
      </ObjectList>
    </>
  )
}

interface Own {
  readonly session: number | undefined
  readonly account: number | undefined
}

function listFacts(own: Own): readonly Column<Session>[] {
  return [
    {
      title: 'Account',
      show: ({ account }) => (
        <>
          {account.name}
          {account.id === own.account && <span class="quiet"> (you)</span>}
        </>
      ),
      sortBy: ({ account }) => account.name,
    },
    {
      title: 'Organization',
      from: 'medium',
      show: ({ organization }) => organization?.name ?? 'System administrator',
      sortBy: ({ organization }) => organization?.name ?? '',
    },
    {
      title: 'Last used',
      width: '9.5rem',
      // It is used now, to read this list; beside a long name the mark would be out of sight.
      show: ({ id, lastUsed }) =>
        id === own.session ? <StateChip state="This browser" /> : <Time at={lastUsed} isAgo />,
      sortBy: ({ lastUsed }) => lastUsed,
    },
    ...times,
  ]
}

const times: readonly Column<Session>[] = [
  agoColumn('Began', ({ created }) => created, { from: 'medium' }),
  {
    title: 'Ends unless used',
    width: '15rem',
    from: 'wide',
    show: ({ accessExpire, refreshExpire }) => <Time at={toIso(refreshExpire ?? accessExpire)} />,
    sortBy: ({ accessExpire, refreshExpire }) => refreshExpire ?? accessExpire,
  },
]

function endColumn(
  end: (one: Session) => void,
  mayEnd: (one: Session) => boolean,
): Column<Session> {
  return {
    title: 'End',
    width: '4.5rem',
    isEnd: true,
    show: (one) =>
      mayEnd(one) && (
        <RowDeeds
          name={`the session of ${one.account.name}`}
          verb="End"
          onDelete={() => {
            end(one)
          }}
        />
      ),
  }
}

/** Without typing the name: whoever it was logs in again. */
function questionOf({ account }: Session) {
  return {
    title: `End the session of ${account.name}?`,
    text: 'Within 5 seconds its tokens are worth nothing. The account can log in again.',
    verb: 'End',
  }
}

/** To end the own one is to log out: the cookie goes too, and the other tabs hear of it. */
async function leave(): Promise<void> {
  const isSure = await confirmDestruction({
    title: 'End the session of this browser?',
    text: 'You are logged out, in all tabs of this browser.',
    verb: 'Log out',
  })
  if (isSure) await logOut()
}
