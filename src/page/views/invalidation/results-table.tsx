/** The result of an invalidation on each cache. */
import { useMemo } from 'preact/hooks'
import type { InvalidationResult } from '../../../resources/invalidation.js'
import { agoColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { StateChip } from '../../parts/state-chip.js'
import { Table, type Column } from '../../parts/table.js'
import { mayRead } from '../../session/rights.js'

type Row = InvalidationResult & { readonly id: number }

export function ResultsTable({ results }: { readonly results: readonly InvalidationResult[] }) {
  const rows = useMemo(() => results.map((one) => ({ ...one, id: one.agent.id })), [results])
  const columns = useMemo(() => listColumns(rows), [rows])
  if (rows.length === 0)
    return (
      <Empty icon="cache" title="No caches">
        <p>The target had no cache that could do it when it was created.</p>
      </Empty>
    )
  return (
    <Table
      label="Results"
      rows={rows}
      columns={columns}
      sorting={{ title: 'Result', isDescending: false }}
      {...(mayRead('agent') ? { linkOf: ({ id }: Row) => `/caches/${id}` } : {})}
      fills
    />
  )
}

/** Results that need attention first. */
const order = ['failed', 'expired', 'pending', 'cancelled', 'done']

const why: Column<Row> = {
  title: 'Why',
  width: '38%',
  show: ({ error }) => <span title={error ?? ''}>{error}</span>,
  sortBy: ({ error }) => error,
}

/** Omits the column of reasons if nothing failed. */
function listColumns(rows: readonly Row[]): readonly Column<Row>[] {
  return [
    { title: 'Cache', show: ({ agent }) => agent.name, sortBy: ({ agent }) => agent.name },
    {
      title: 'Result',
      width: '7.5rem',
      show: ({ state }) => <StateChip state={state} />,
      sortBy: ({ state }) => order.indexOf(state),
    },
    ...(rows.some(({ error }) => error !== null) ? [why] : []),
    agoColumn('At', ({ at }) => at, { from: 'wide' }),
  ]
}
