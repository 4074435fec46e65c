/** Active sessions, including the user's own; each can be ended. */
import type { Session } from '../../../resources/session.js'
import { agoColumn, textColumn } from '../../parts/columns.js'
import { confirmDestruction } from '../../parts/confirm.js'
import { StateChip } from '../../parts/state-chip.js'
import { Time } from '../../parts/time.js'
import { logOut } from '../../session/access.js'
import { mayWrite, readWho } from '../../session/rights.js'
import { endColumn } from './administration-head.js'
import { viewOf } from './administration-list.js'

export const View = viewOf<Session>({
  title: 'Sessions',
  path: '/sessions',
  isShown: ({ label }) => label === '',
  // Every user may end their own sessions.
  mayWrite: () => true,
  textOf: ({ account, organization }) => `${account.name} ${organization?.name ?? ''}`,
  columns: [
    {
      title: 'Account',
      show: ({ account }) => (
        <>
          {account.name}
          {account.id === readWho()?.account.id && <span class="quiet"> (you)</span>}
        </>
      ),
      sortBy: ({ account }) => account.name,
    },
    textColumn('Organization', ({ organization }) => organization?.name ?? 'System administrator', {
      from: 'medium',
      sortBy: ({ organization }) => organization?.name ?? '',
    }),
    {
      title: 'Last used',
      width: '9.5rem',
      // This session is in use now, to read the list; beside a long name the mark would not be visible.
      show: (one) =>
        isOwn(one) ? <StateChip state="This browser" /> : <Time at={one.lastUsed} isAgo />,
      sortBy: ({ lastUsed }) => lastUsed,
    },
    agoColumn('Began', ({ created }) => created, { from: 'medium' }),
    endColumn(
      'Ends unless used',
      ({ accessExpire, refreshExpire }) => refreshExpire ?? accessExpire,
      { from: 'wide' },
    ),
  ],
  sorting: { title: 'Last used', isDescending: true },
  actions: {
    verb: 'End',
    done: 'Ended.',
    width: '4.5rem',
    nameOf: ({ account }) => `the session of ${account.name}`,
    // The name need not be typed: the account can log in again.
    questionOf: ({ account }) => ({
      title: `End the session of ${account.name}?`,
      text: 'Its tokens are disabled within 5 seconds. The account can log in again.',
    }),
    isOffered: (one) => mayWrite('session') || isOwn(one),
    removeElsewhere: (one) => {
      if (isOwn(one)) void leave() // never rejects
      return isOwn(one)
    },
  },
  empty: { title: 'Nobody is logged in' },
})

function isOwn({ id }: Session): boolean {
  return id === readWho()?.session.id
}

/** Ending one's own session is a logout: the cookie is removed too, and the other tabs are notified. */
async function leave(): Promise<void> {
  const isSure = await confirmDestruction({
    title: 'End the session of this browser?',
    text: 'You are logged out, in all tabs of this browser.',
    verb: 'Log out',
  })
  if (isSure) await logOut()
}
