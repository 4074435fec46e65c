/** Bans and purges, the newest first: what they remove, how far they are. */
import type { ListedInvalidation } from '../../api/invalidation.js'
import { useList } from '../../api/list.js'
import { LinkButton } from '../../parts/button.js'
import { Choices } from '../../parts/choices.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayWrite } from '../../session/rights.js'
import { useAddressField, useSearchText } from '../../shell/address.js'
import { InvalidationState } from './invalidation-state.js'
import { countStates, pickInvalidations, sayContent, sayTarget } from './say-invalidation.js'

export function View() {
  const { rows, phase, error, reload } = useList<ListedInvalidation>('/invalidations', {
    follow: ['invalidation'],
  })
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
      {error && <ErrorNote error={error} onRetry={reload} />}
      {phase === 'loading' && <Loading />}
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
      {shown.length > 0 && (
        <Table
          label="Invalidations"
          rows={shown}
          columns={columns}
          linkOf={({ id }) => `/invalidations/${id}`}
          sorting={{ title: 'Made', isDescending: true }}
          fills
        />
      )}
      {phase === 'ready' && !error && shown.length === 0 && (
        <NoInvalidations isEmpty={rows.length === 0} />
      )}
    </>
  )
}

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
  {
    title: 'Made',
    width: '9.5rem',
    from: 'wide',
    show: ({ created }) => <Time at={created} isAgo />,
    sortBy: ({ created }) => created,
  },
]

function NoInvalidations({ isEmpty }: { readonly isEmpty: boolean }) {
  if (!isEmpty) return <Empty icon="search" title="No invalidation fits these filters" />
  return (
    <Empty icon="invalidation" title="No invalidations yet">
      <p>A ban removes what an expression matches, a purge what is stored under a URL.</p>
    </Empty>
  )
}
