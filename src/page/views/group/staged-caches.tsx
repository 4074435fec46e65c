/** The caches of a stage: the progress and current counters of each. */
import type { Place } from '../../../resources/vclgroup.js'
import { agoColumn } from '../../parts/columns.js'
import { FailureNotes } from '../../parts/failure-notes.js'
import { Table, type Column } from '../../parts/table.js'
import { mayRead } from '../../session/rights.js'
import { HitRatio, RequestRate, SampleRows } from '../caches/rows-sampled.js'
import { placeColumns, usePlaceRows, type PlaceRow } from './places.js'

export function StagedCaches({ places }: { readonly places: readonly Place[] }) {
  // Stages do not use the phases of a deploy.
  const rows = usePlaceRows(places, ({ state }) => state)
  if (rows.length === 0) return <p class="quiet">Not on any cache.</p>
  return (
    <>
      <Table
        label="Caches of the stage"
        rows={rows}
        columns={
          mayRead('stats') ? [...placeColumns, ...rateColumns, since] : [...placeColumns, since]
        }
        sorting={{ title: 'Cache', isDescending: false }}
      />
      {mayRead('stats') && <SampleRows rates={null} />}
      <FailureNotes places={places} />
    </>
  )
}

const rateColumns: readonly Column<PlaceRow>[] = [
  {
    title: 'Hit ratio',
    width: '7rem',
    from: 'medium',
    isEnd: true,
    show: ({ id, agentState: state }) => <HitRatio of={{ id, state }} />,
  },
  {
    title: 'Requests',
    width: '7rem',
    from: 'medium',
    isEnd: true,
    show: ({ id, agentState: state }) => <RequestRate of={{ id, state }} />,
  },
]

const since = agoColumn<PlaceRow>('Since', ({ deployedAt }) => deployedAt, { from: 'medium' })
