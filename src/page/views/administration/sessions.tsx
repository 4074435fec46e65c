/** The logins that live, one's own among them; each can be ended. */
import { useMemo } from 'preact/hooks'
import { useList } from '../../api/list.js'
import type { Session } from '../../../resources/session.js'
import { agoColumn, textColumn } from '../../parts/columns.js'
import { confirmDestruction } from '../../parts/confirm.js'
import { Empty } from '../../parts/empty.js'
import { ListView, type RowDeeds } from '../../parts/list-view.js'
import { StateChip } from '../../parts/state-chip.js'
import type { Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { logOut } from '../../session/access.js'
import { mayWrite, readWho } from '../../session/rights.js'
import { AdministrationHead, endColumn } from './administration-head.js'

export function View() {
  const list = useList<Session>('/sessions')
  const isWriter = mayWrite('session')
  const who = readWho()
  const own = { session: who?.session.id, account: who?.account.id }
  const columns = useMemo(() => listColumns(own), [own.session, own.account])
  const deeds = useMemo(() => listDeeds(own, isWriter), [own.session, isWriter])
  return (
    <ListView
      title="Sessions"
      Head={AdministrationHead}
      list={{ ...list, rows: list.rows.filter(({ label }) => label === '') }}
      textOf={({ account, organization }) => `${account.name} ${organization?.name ?? ''}`}
      columns={columns}
      deeds={deeds}
      sorting={{ title: 'Last used', isDescending: true }}
      empty={<Empty icon="administration" title="Nobody is logged in" />}
    />
  )
}

interface Own {
  readonly session: number | undefined
  readonly account: number | undefined
}

function listColumns(own: Own): readonly Column<Session>[] {
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
    textColumn('Organization', ({ organization }) => organization?.name ?? 'System administrator', {
      ...{ from: 'medium', sortBy: ({ organization }) => organization?.name ?? '' },
    }),
    {
      ...{ title: 'Last used', width: '9.5rem', sortBy: ({ lastUsed }) => lastUsed },
      // It is used now, to read this list; beside a long name the mark would be out of sight.
      show: ({ id, lastUsed }) =>
        id === own.session ? <StateChip state="This browser" /> : <Time at={lastUsed} isAgo />,
    },
    agoColumn('Began', ({ created }) => created, { from: 'medium' }),
    endColumn(
      'Ends unless used',
      ({ accessExpire, refreshExpire }) => refreshExpire ?? accessExpire,
      { from: 'wide' },
    ),
  ]
}

function listDeeds(own: Own, isWriter: boolean): RowDeeds<Session> {
  const isOwn = ({ id }: Session): boolean => id === own.session
  return {
    ...{ path: '/sessions', verb: 'End', done: 'Ended.', width: '4.5rem' },
    nameOf: ({ account }) => `the session of ${account.name}`,
    // Without typing the name: whoever it was logs in again.
    questionOf: ({ account }) => ({
      title: `End the session of ${account.name}?`,
      text: 'Within 5 seconds its tokens are worth nothing. The account can log in again.',
    }),
    isOffered: (one) => isWriter || isOwn(one),
    removeElsewhere: (one) => {
      if (isOwn(one)) void leave() // never rejects
      return isOwn(one)
    },
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
