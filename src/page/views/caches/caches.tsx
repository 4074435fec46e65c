/** The fleet: the live state of every cache that the user may see, sorted by severity or on a map. */
import { useSignal, type Signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { Agent } from '../../../resources/agent.js'
import { isTransient } from '../../api/connection.js'
import { useList } from '../../api/list.js'
import { LinkButton } from '../../parts/button.js'
import { Choices } from '../../parts/choices.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { keepKnown } from '../../parts/selection.js'
import { Table } from '../../parts/table.js'
import { ViewHead } from '../../parts/view-head.js'
import { isNarrow } from '../../parts/window-width.js'
import { mayRead, mayWrite } from '../../session/rights.js'
import { useAddressField } from '../../shell/address.js'
import { BulkActions } from './bulk-actions.js'
import { Cards } from './cards.js'
import { FilterBar, useFilters } from './filters.js'
import { filterAgents } from './filter-agents.js'
import { sortByName } from './judge-cache.js'
import { FleetMap } from './map/fleet-map.js'
import { SampleRows } from './rows-sampled.js'
import { useSorted, type Sorted } from './use-sorted.js'

export function View() {
  const { rows, phase, error, reload } = useList<Agent>('/agents', {
    follow: ['agent'],
    isWhole: true,
  })
  const filters = useFilters()
  const { filter } = filters
  const shown = useMemo(() => sortByName(filterAgents(rows, filter)), [rows, filter])
  const [shape, setShape] = useAddressField('show')
  const isMap = shape === 'map'
  const seesRates = mayRead('stats')
  const sorted = useSorted(seesRates, isMap)
  const selection = useSelection(rows)

  return (
    <>
      <ViewHead title="Caches">
        <Actions rows={rows} chosen={selection.chosen} isMap={isMap} onShow={setShape} />
      </ViewHead>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {sorted.error && !isTransient(sorted.error) && <ErrorNote error={sorted.error} />}
      {phase === 'loading' && <Loading />}
      {rows.length > 0 && <FilterBar rows={rows} {...filters} />}
      {shown.length > 0 && (
        <Shown
          rows={shown}
          sorted={sorted}
          selection={selection}
          isMap={isMap}
          seesRates={seesRates}
        />
      )}
      {phase === 'ready' && !error && shown.length === 0 && (
        <NoCaches isEmpty={rows.length === 0} />
      )}
    </>
  )
}

const shapes = [
  { value: '', title: 'List' },
  { value: 'map', title: 'Map' },
]

/** Filters and sorting keep the selection; deleted caches are removed from it. */
function useSelection(rows: readonly Agent[]) {
  const chosen = useSignal<ReadonlySet<number>>(new Set())
  useEffect(() => {
    if (chosen.peek().size === 0) return
    chosen.value = keepKnown(chosen.peek(), new Set(rows.map(({ id }) => id)))
  }, [rows])
  return useMemo(() => ({ chosen, nameOf: ({ name }: Agent) => name }), [])
}

interface ShownProps {
  readonly rows: readonly Agent[]
  readonly sorted: Sorted
  readonly selection: ReturnType<typeof useSelection>
  readonly isMap: boolean
  readonly seesRates: boolean
}

/** Shows the caches as tiles, cards or rows. */
function Shown({ rows, sorted, selection, isMap, seesRates }: ShownProps) {
  const { columns, sorting, onSort, rates } = sorted
  if (isMap) return <FleetMap agents={rows} rates={rates} />
  return (
    <>
      {isNarrow.value ? (
        <Cards rows={rows} columns={columns} sorting={sorting} seesRates={seesRates} />
      ) : (
        <Table
          label="Caches"
          linkOf={({ id }) => `/caches/${id}`}
          fills
          isDense
          rows={rows}
          columns={columns}
          sorting={sorting}
          onSort={onSort}
          selection={selection}
        />
      )}
      {seesRates && <SampleRows rates={rates} />}
    </>
  )
}

interface ActionsProps {
  readonly rows: readonly Agent[]
  readonly chosen: Signal<ReadonlySet<number>>
  readonly isMap: boolean
  readonly onShow: (shape: string) => void
}

/** The choice of list or map; while caches are selected, the bulk actions take its place. */
function Actions({ rows, chosen, isMap, onShow }: ActionsProps) {
  const ids = chosen.value
  if (ids.size > 0 && !isMap)
    return <BulkActions agents={rows.filter(({ id }) => ids.has(id))} chosen={chosen} />
  return <Choices label="Show as" value={isMap ? 'map' : ''} onChoose={onShow} choices={shapes} />
}

function NoCaches({ isEmpty }: { readonly isEmpty: boolean }) {
  if (!isEmpty)
    return (
      <Empty icon="search" title="No cache matches these filters">
        <LinkButton href="/caches">Show all caches</LinkButton>
      </Empty>
    )
  return (
    <Empty icon="cache" title="No caches yet">
      <p>A cache appears here once an agent beside it enrols with a join token.</p>
      {mayWrite('agent') && (
        <LinkButton kind="main" href="/administration/join-tokens">
          Create a join token
        </LinkButton>
      )}
    </Empty>
  )
}
