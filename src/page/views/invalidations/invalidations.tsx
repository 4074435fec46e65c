/** Bans and purges, the newest first: what they remove, how far they are. */
import type { ListedInvalidation } from '../../api/invalidation.js'
import { useList } from '../../api/list.js'
import { LinkButton } from '../../parts/button.js'
import { Choices } from '../../parts/choices.js'
import { agoColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { ObjectList } from '../../parts/object-list.js'
import type { Column } from '../../parts/table.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayWrite } from '../../session/rights.js'
import { useAddressField, useSearchText } from '../../shell/address.js'
import { InvalidationState } from './invalidation-state.js'
import { countStates, pickInvalidations, sayContent, sayTarget } from './say-invalidation.js'
import { useProgress } from './use-progress.js'

export function View() {
  const list = useList<ListedInvalidation>('/invalidations', { follow: ['invalidation'] })
  const { rows } = list
  const isOpen = rows.length <= progressRowsMost && rows.some(({ finished }) => finished === null)
  useProgress(isOpen, progressMs, list.reload)
  const text = useSearchText()
  const [state, setState] = useAddressField('state')
  const [type, setType] = useAddressField('type')
  const shown = pickInvalidations(rows, { text, state, type })

  return (
    <>
      <ViewHead title="Invalidations">
        {mayWrite('invalidation') && (
          <LinkButton href="/invalidations/new" kind="main" icon="add">
            New invalidation
          </LinkButton>
        )}
      </ViewHead>
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
      <ObjectList
        {...{ list, columns, label: 'Invalidations', rows: shown }}
        linkOf={({ id }) => `/invalidations/${id}`}
        sorting={{ title: 'Made', isDescending: true }}
      >
        <Empty icon="invalidation" title="No invalidations yet">
          <p>A ban removes what an expression matches, a purge what is stored under a URL.</p>
        </Empty>
      </ObjectList>
    </>
  )
}

/** Chosen by us: often enough to see that it goes on; longer lists wait for events. */
const progressMs = 10_000
const progressRowsMost = 1_000

const types = [
  { value: '', title: 'Bans and purges' },
  { value: 'ban', title: 'Bans' },
  { value: 'purge', title: 'Purges' },
]

const columns: readonly Column<ListedInvalidation>[] = [
  { title: 'What', show: sayContent, sortBy: sayContent },
  {
    title: 'Type',
    width: '5rem',
    from: 'medium',
    show: ({ type }) => (type === 'ban' ? 'Ban' : 'Purge'),
    sortBy: ({ type }) => type,
  },
  {
    title: 'State',
    width: '8.5rem',
    show: (row) => <InvalidationState of={row} />,
    sortBy: ({ state }) => state,
  },
  {
    title: 'Done',
    width: '6rem',
    isEnd: true,
    from: 'medium',
    show: ({ done, total }) => `${done} of ${total}`,
    sortBy: ({ done, total }) => (total === 0 ? 1 : done / total),
  },
  {
    title: 'Target',
    width: '20%',
    from: 'medium',
    show: ({ target }) => sayTarget(target),
    sortBy: ({ target }) => sayTarget(target),
  },
  agoColumn('Made', ({ created }) => created, { from: 'wide' }),
]
