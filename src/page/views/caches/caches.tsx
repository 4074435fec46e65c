/** The fleet: every cache that the person may see, as it is now. */
import { useMemo } from 'preact/hooks'
import type { Agent } from '../../../resources/agent.js'
import { useList } from '../../api/list.js'
import { LinkButton } from '../../parts/button.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { Table } from '../../parts/table.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayRead, mayWrite } from '../../session/rights.js'
import { FilterBar, useFilters } from './filters.js'
import { filterAgents } from './filter-agents.js'
import { SampleRows } from './rows-sampled.js'
import { useSorted } from './use-sorted.js'

export function View() {
  const { rows, phase, error, reload } = useList<Agent>('/agents', {
    follow: ['agent'],
    isWhole: true,
  })
  const filters = useFilters()
  const { filter } = filters
  const shown = useMemo(() => filterAgents(rows, filter), [rows, filter])
  const seesRates = mayRead('stats')
  const { error: ratesError, ...sorted } = useSorted(seesRates)

  return (
    <>
      <ViewHead title="Caches" />
      {error && <ErrorNote error={error} onRetry={reload} />}
      {ratesError && <ErrorNote error={ratesError} />}
      {phase === 'loading' && <Loading />}
      {rows.length > 0 && <FilterBar rows={rows} {...filters} />}
      {shown.length > 0 && (
        <Table label="Caches" rows={shown} {...sorted} linkOf={({ id }) => `/caches/${id}`} fills />
      )}
      {seesRates && <SampleRows />}
      {phase === 'ready' && !error && shown.length === 0 && (
        <NoCaches isEmpty={rows.length === 0} />
      )}
    </>
  )
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
