/** Tags: the words that deployments choose caches by. */
import { useSignal } from '@preact/signals'
import { useList } from '../../api/list.js'
import { tag, type Tag } from '../../../resources/tag.js'
import { agoColumn, nameColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { NewNamed } from '../../parts/named-object.js'
import { NewButton } from '../../parts/new-button.js'
import { ObjectList } from '../../parts/object-list.js'
import { plainColumns } from '../../parts/plain-fields.js'
import type { Column } from '../../parts/table.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayWrite } from '../../session/rights.js'
import { useSearchText } from '../../shell/address.js'
import { tagKind } from './tag-kind.js'

export function View() {
  const list = useList<Tag>('/tags', { follow: ['tag', 'agent'] })
  const text = useSearchText()
  const isMaking = useSignal(false)
  const shown = list.rows.filter(({ name }) => name.toLowerCase().includes(text))
  const make = (): void => {
    isMaking.value = true
  }
  return (
    <>
      <ViewHead title="Tags">{mayWrite('tag') && <NewButton noun="tag" onPress={make} />}</ViewHead>
      <ObjectList
        {...{ list, columns, label: 'Tags', rows: shown }}
        linkOf={({ id }) => `/tags/${id}`}
        sorting={{ title: 'Name', isDescending: false }}
      >
        <NoTags />
      </ObjectList>
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
  nameColumn(({ name }) => name),
  {
    title: 'Sent by a cache',
    width: '9rem',
    show: (one) => (one.static ? 'yes' : 'no'),
    sortBy: (one) => Number(one.static),
  },
  ...plainColumns<Tag>(tag),
  agoColumn('Made', ({ created }) => created, { from: 'medium' }),
]

function NoTags() {
  return (
    <Empty icon="tag" title="No tags yet">
      <p>
        A tag says what a cache is for or where it stands, as <code>eu</code> or <code>video</code>.
        Agents bring their own (<code>--tags</code>); others are made here and given to caches.
      </p>
    </Empty>
  )
}
