/** The fleet: every cache that the person may see, as it is now. */
import { useMemo } from 'preact/hooks'
import type { Agent } from '../../api/agent.js'
import { useList } from '../../api/list.js'
import { Choices } from '../../parts/choices.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { Labels, StateChip } from '../../parts/state-chip.js'
import { Table, type Column } from '../../parts/table.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayRead } from '../../session/rights.js'
import { useAddressField, useSearchText } from '../../shell/address.js'
import { CacheName } from './cache-name.js'
import { ConfigChip } from './config-chip.js'
import { rankConfig } from './judge-config.js'
import { countStates, countTags, pickAgents } from './pick-agents.js'
import { HitRatio, RequestRate, SampleRows } from './rows-sampled.js'
import { TagFilter } from './tag-filter.js'

export function View() {
  const { rows, phase, error, reload } = useList<Agent>('/agents', {
    follow: ['agent'],
    isWhole: true,
  })
  const text = useSearchText()
  const [state, setState] = useAddressField('state')
  const [tag, setTag] = useAddressField('tag')
  const shown = useMemo(() => pickAgents(rows, { text, state, tag }), [rows, text, state, tag])
  const states = useMemo(() => countStates(rows), [rows])
  const tags = useMemo(() => countTags(rows), [rows])
  const seesRates = mayRead('stats')

  return (
    <>
      <ViewHead title="Caches" />
      {error && <ErrorNote error={error} onRetry={reload} />}
      {phase === 'loading' && <Loading />}
      {rows.length > 0 && (
        <div class="caches-filters">
          <Choices
            label="State"
            value={state}
            onChoose={setState}
            choices={[{ value: '', title: 'All', count: rows.length }, ...states]}
          />
          {(tags.length > 0 || tag !== '') && (
            <TagFilter tags={tags} value={tag} onChoose={setTag} />
          )}
        </div>
      )}
      {shown.length > 0 && (
        <Table
          label="Caches"
          rows={shown}
          columns={seesRates ? columns : columnsWithoutRates}
          linkOf={({ id }) => `/caches/${id}`}
          sorting={{ title: 'Name', isDescending: false }}
          fills
        />
      )}
      {seesRates && <SampleRows />}
      {phase === 'ready' && !error && shown.length === 0 && (
        <NoCaches isEmpty={rows.length === 0} />
      )}
    </>
  )
}

/** Rates are of the rows in sight only: the table cannot be sorted by them. */
const rates: readonly Column<Agent>[] = [
  {
    title: 'Hit ratio',
    width: '5.75rem',
    from: 'medium',
    isEnd: true,
    show: ({ id }) => <HitRatio id={id} />,
  },
  {
    title: 'Requests',
    width: '6.25rem',
    from: 'medium',
    isEnd: true,
    show: ({ id }) => <RequestRate id={id} />,
  },
]

const columns: readonly Column<Agent>[] = [
  {
    title: 'Name',
    show: ({ name }) => <CacheName name={name} />,
    sortBy: ({ name }) => name,
  },
  {
    title: 'State',
    width: '7.75rem',
    show: ({ stateName }) => <StateChip state={stateName} />,
    sortBy: ({ state }) => state,
  },
  ...rates,
  {
    title: 'Config',
    width: '7.75rem',
    from: 'medium',
    show: (agent) => <ConfigChip agent={agent} />,
    sortBy: rankConfig,
  },
  {
    title: 'Tags',
    width: '17%',
    from: 'wide',
    show: ({ tags }) => <Labels words={tags.map(({ name }) => name)} />,
  },
  {
    title: 'Version',
    width: '5.25rem',
    from: 'wide',
    show: ({ engineVersion }) => engineVersion,
    sortBy: ({ engineVersion }) => engineVersion,
  },
]

const columnsWithoutRates = columns.filter((column) => !rates.includes(column))

function NoCaches({ isEmpty }: { readonly isEmpty: boolean }) {
  if (!isEmpty) return <Empty icon="search" title="No cache fits these filters" />
  return (
    <Empty icon="cache" title="No caches yet">
      <p>Make a join token, then start an agent beside a cache:</p>
      <p>
        <code>cachefleet jointokens add --label first</code>
      </p>
      <p>
        <code>cachefleetd --coordinator-url … --join-token-file …</code>
      </p>
    </Empty>
  )
}
