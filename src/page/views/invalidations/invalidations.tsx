/** Bans and purges, newest first: their content and progress. */
import type { ListedInvalidation } from '../../../resources/invalidation.js'
import { useList } from '../../api/list.js'
import { LinkButton } from '../../parts/button.js'
import { Choices } from '../../parts/choices.js'
import { agoColumn, textColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { ListView } from '../../parts/list-view.js'
import { readOwner } from '../../parts/owner.js'
import type { Column } from '../../parts/table.js'
import { mayWrite } from '../../session/rights.js'
import { useAddressField, useSearchText } from '../../shell/address.js'
import { InvalidationState } from './invalidation-state.js'
import {
  countStates,
  filterInvalidations,
  formatContent,
  formatTarget,
} from './format-invalidation.js'
import { useProgress } from './use-progress.js'

export function View() {
  const list = useList<ListedInvalidation>('/invalidations', { follow: ['invalidation'] })
  const { rows } = list
  const isOpen = rows.length <= maxProgressRows && rows.some(({ finished }) => finished === null)
  useProgress(isOpen, progressMs, list.reload)
  const text = useSearchText()
  const [state, setState] = useAddressField('state')
  const [type, setType] = useAddressField('type')
  const shown = filterInvalidations(rows, { text, state, type })
  return (
    <ListView
      list={list}
      columns={columns}
      shown={shown}
      title="Invalidations"
      ownerOf={readOwner}
      linkOf={({ id }) => `/invalidations/${id}`}
      sorting={{ title: 'Created', isDescending: true }}
      buttons={() =>
        mayWrite('invalidation') && (
          <LinkButton href="/invalidations/new" kind="main" icon="add">
            Clear cache
          </LinkButton>
        )
      }
      empty={
        <Empty icon="invalidation" title="No invalidations yet">
          <p>A ban removes what an expression matches, a purge what is stored under a URL.</p>
        </Empty>
      }
    >
      {rows.length > 0 && (
        <div class="row">
          <Choices label="Type" value={type} onChoose={setType} choices={types} />
          <Choices
            label="State"
            value={state}
            onChoose={setState}
            choices={[{ value: '', title: 'All', count: rows.length }, ...countStates(rows)]}
          />
        </div>
      )}
    </ListView>
  )
}

/** Often enough to show progress; longer lists wait for events. */
const progressMs = 10_000
const maxProgressRows = 1_000

const types = [
  { value: '', title: 'Bans and purges' },
  { value: 'ban', title: 'Bans' },
  { value: 'purge', title: 'Purges' },
]

const columns: readonly Column<ListedInvalidation>[] = [
  textColumn('What', formatContent),
  textColumn('Type', ({ type }) => (type === 'ban' ? 'Ban' : 'Purge'), {
    width: '5rem',
    from: 'medium',
  }),
  {
    title: 'State',
    width: '8.5rem',
    sortBy: ({ state }) => state,
    show: (row) => <InvalidationState of={row} />,
  },
  {
    title: 'Done',
    width: '6rem',
    isEnd: true,
    from: 'medium',
    show: ({ done, total }) => `${done} of ${total}`,
    sortBy: ({ done, total }) => (total === 0 ? 1 : done / total),
  },
  textColumn('Target', ({ target }) => formatTarget(target), { width: '20%', from: 'medium' }),
  agoColumn('Created', ({ created }) => created, { from: 'wide' }),
]
