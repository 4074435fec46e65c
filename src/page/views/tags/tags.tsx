/** Tags: the words that deployments choose caches by. */
import { useSignal } from '@preact/signals'
import { useList } from '../../api/list.js'
import type { Tag } from '../../api/tag.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { NewNamed } from '../../parts/named-object.js'
import { NewButton } from '../../parts/new-button.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayWrite } from '../../session/rights.js'
import { useSearchText } from '../../shell/address.js'
import { tagKind } from './tag-kind.js'

export function View() {
  const { rows, phase, error, reload } = useList<Tag>('/tags')
  const text = useSearchText()
  const isMaking = useSignal(false)
  const shown = rows.filter(({ name }) => name.toLowerCase().includes(text))
  const make = (): void => {
    isMaking.value = true
  }
  return (
    <>
      <ViewHead title="Tags">{mayWrite('tag') && <NewButton noun="tag" onPress={make} />}</ViewHead>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {phase === 'loading' && <Loading />}
      {shown.length > 0 && (
        <Table
          label="Tags"
          rows={shown}
          columns={columns}
          linkOf={({ id }) => `/tags/${id}`}
          sorting={{ title: 'Name', isDescending: false }}
          fills
        />
      )}
      {phase === 'ready' && !error && shown.length === 0 && <NoTags isEmpty={rows.length === 0} />}
      {isMaking.value && (
        <NewNamed
          kind={tagKind}
          onClose={() => {
            isMaking.value = false
          }}
        />
      )}
    </>
  )
}

const columns: readonly Column<Tag>[] = [
  { title: 'Name', show: ({ name }) => name, sortBy: ({ name }) => name },
  {
    title: 'Sent by a cache',
    width: '9rem',
    show: (tag) => (tag.static ? 'yes' : 'no'),
    sortBy: (tag) => Number(tag.static),
  },
  {
    title: 'Made',
    width: '9.5rem',
    from: 'medium',
    show: ({ created }) => <Time at={created} isAgo />,
    sortBy: ({ created }) => created,
  },
]

function NoTags({ isEmpty }: { readonly isEmpty: boolean }) {
  if (!isEmpty) return <Empty icon="search" title="No tag fits this search" />
  return (
    <Empty icon="tag" title="No tags yet">
      <p>
        A tag says what a cache is for or where it stands, as <code>eu</code> or <code>video</code>.
        Agents bring their own (<code>--tags</code>); others are made here and given to caches.
      </p>
    </Empty>
  )
}
