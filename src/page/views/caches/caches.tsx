/** The fleet: every cache that the person may see, as it is now. */
import type { Agent } from '../../api/agent.js'
import { useList } from '../../api/list.js'
import { Choices } from '../../parts/choices.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { Labels, StateChip } from '../../parts/state-chip.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { ViewHead } from '../../parts/view-head.js'
import { useAddressField, useSearchText } from '../../shell/address.js'
import { countStates, pickAgents } from './pick-agents.js'

export function View() {
  const { rows, phase, error, reload } = useList<Agent>('/agents', {
    follow: ['agent'],
    isWhole: true,
  })
  const text = useSearchText()
  const [state, setState] = useAddressField('state')
  const shown = pickAgents(rows, { text, state })

  return (
    <>
      <ViewHead title="Caches" />
      {error && <ErrorNote error={error} onRetry={reload} />}
      {phase === 'loading' && <Loading />}
      {rows.length > 0 && (
        <Choices
          label="State"
          value={state}
          onChoose={setState}
          choices={[{ value: '', title: 'All', count: rows.length }, ...countStates(rows)]}
        />
      )}
      {shown.length > 0 && (
        <Table
          label="Caches"
          rows={shown}
          columns={columns}
          sorting={{ title: 'Name', isDescending: false }}
          fills
        />
      )}
      {phase === 'ready' && !error && shown.length === 0 && (
        <NoCaches isEmpty={rows.length === 0} />
      )}
    </>
  )
}

const columns: readonly Column<Agent>[] = [
  { title: 'Name', show: ({ name }) => name, sortBy: ({ name }) => name },
  {
    title: 'State',
    width: '8.5rem',
    show: ({ stateName }) => <StateChip state={stateName} />,
    sortBy: ({ state }) => state,
  },
  {
    title: 'Tags',
    from: 'medium',
    show: ({ tags }) => <Labels words={tags.map(({ name }) => name)} />,
  },
  {
    title: 'Address',
    width: '13rem',
    from: 'wide',
    show: ({ engineHost, enginePort }) => `${engineHost}:${enginePort}`,
    sortBy: ({ engineHost }) => engineHost,
  },
  {
    title: 'Version',
    width: '8rem',
    from: 'medium',
    show: ({ engineVersion }) => engineVersion,
    sortBy: ({ engineVersion }) => engineVersion,
  },
  {
    title: 'In this state',
    width: '9.5rem',
    from: 'wide',
    show: ({ lastStateChange }) => <Time at={lastStateChange} isAgo />,
    sortBy: ({ lastStateChange }) => lastStateChange,
  },
]

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
