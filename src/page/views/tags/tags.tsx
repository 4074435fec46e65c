/** Tags: words by which deployments select caches. */
import { useList } from '../../api/list.js'
import { tag, type Tag } from '../../../resources/tag.js'
import { agoColumn, textColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { ListView } from '../../parts/list-view.js'
import { readOwner } from '../../parts/owner.js'
import { NewNamed } from '../../parts/named-object.js'
import { plainColumns } from '../../parts/plain-fields.js'
import type { Column } from '../../parts/table.js'
import { mayWrite } from '../../session/rights.js'
import { tagKind } from './tag-kind.js'

export function View() {
  return (
    <ListView
      title="Tags"
      list={useList<Tag>('/tags', { follow: ['tag', 'agent'] })}
      textOf={({ name }) => name}
      columns={columns}
      ownerOf={readOwner}
      linkOf={({ id }) => `/tags/${id}`}
      sorting={{ title: 'Name', isDescending: false }}
      noun={mayWrite('tag') ? 'tag' : null}
      dialog={({ onClose }) => <NewNamed kind={tagKind} onClose={onClose} />}
      empty={<NoTags />}
    />
  )
}

const columns: readonly Column<Tag>[] = [
  textColumn('Name', ({ name }) => name),
  {
    title: 'Sent by a cache',
    width: '9rem',
    show: (one) => (one.static ? 'yes' : 'no'),
    sortBy: (one) => Number(one.static),
  },
  ...plainColumns<Tag>(tag),
  agoColumn('Created', ({ created }) => created, { from: 'medium' }),
]

function NoTags() {
  return (
    <Empty icon="tag" title="No tags yet">
      <p>
        A tag names what a cache is for or where it is, as <code>eu</code> or <code>video</code>.
        Agents bring their own (<code>--tags</code>); others are created here and assigned to
        caches.
      </p>
    </Empty>
  )
}
