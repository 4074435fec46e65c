/** Join tokens: what lets new agents in. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { JoinToken } from '../../api/join-token.js'
import { useList } from '../../api/list.js'
import { Empty } from '../../parts/empty.js'
import { Labels } from '../../parts/state-chip.js'
import { NewButton } from '../../parts/new-button.js'
import type { Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { useSearchText } from '../../shell/address.js'
import { AdministrationHead } from './administration-head.js'
import { useRemoval } from './change-object.js'
import { JoinTokenDialog } from './join-token-dialog.js'
import { toIso } from './lifetime.js'
import { ObjectList } from '../../parts/object-list.js'
import { RowDeeds } from './row-deeds.js'

export function View() {
  const list = useList<JoinToken>('/jointokens', { follow: ['agent'] })
  const text = useSearchText()
  const isMaking = useSignal(false)
  const { deed, remove } = useRemoval(list.reload)
  const columns = useMemo(
    () => [
      ...facts,
      deleteColumn((one) => void remove(questionOf(one), `/jointokens/${one.id}`, 'Revoked.')),
    ],
    [list.reload],
  )
  const makeNew = (): void => {
    isMaking.value = true
  }
  return (
    <>
      <AdministrationHead title="Join tokens">
        <NewButton noun="join token" onPress={makeNew} />
      </AdministrationHead>
      <ObjectList
        {...{ columns, list, problem: deed.error }}
        label="Join tokens"
        rows={list.rows.filter(({ label }) => label.toLowerCase().includes(text))}
      >
        <Empty icon="cache" title="No join tokens yet">
          <p>Make one, then start an agent beside a cache with the command that is shown.</p>
        </Empty>
      </ObjectList>
      {isMaking.value && (
        <JoinTokenDialog
          onMade={list.reload}
          onClose={() => {
            isMaking.value = false
          }}
        />
      )}
    </>
  )
}

const facts: readonly Column<JoinToken>[] = [
  { title: 'Label', show: ({ label }) => label, sortBy: ({ label }) => label },
  {
    title: 'Used',
    width: '7rem',
    isEnd: true,
    show: ({ uses, maxUses }) => `${uses} of ${maxUses}`,
    sortBy: ({ uses }) => uses,
  },
  {
    title: 'Tags',
    from: 'medium',
    show: ({ tags }) => <Labels words={tags.map(({ name }) => name)} />,
  },
  {
    title: 'For',
    from: 'wide',
    show: ({ organization }) => organization?.name ?? 'All organizations',
    sortBy: ({ organization }) => organization?.name ?? '',
  },
  {
    title: 'Ends',
    width: '15rem',
    from: 'medium',
    show: ({ expires }) => (expires === null ? 'Never' : <Time at={toIso(expires)} />),
    sortBy: ({ expires }) => expires ?? Infinity,
  },
]

function deleteColumn(remove: (one: JoinToken) => void): Column<JoinToken> {
  return {
    title: 'Revoke',
    width: '5rem',
    isEnd: true,
    show: (one) => (
      <RowDeeds
        name={one.label}
        verb="Revoke"
        onDelete={() => {
          remove(one)
        }}
      />
    ),
  }
}

function questionOf({ label }: JoinToken) {
  return {
    title: `Revoke the join token ${label}?`,
    text: 'No host is enrolled with it any more. Agents that it let in stay.',
    verb: 'Revoke',
    name: label,
  }
}
