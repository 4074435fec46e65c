/** The fleet: every cache that the person may see, as it is now. */
import { useMemo } from 'preact/hooks'
import type { Agent } from '../../api/agent.js'
import { useList } from '../../api/list.js'
import { Choices } from '../../parts/choices.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { Table } from '../../parts/table.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayRead } from '../../session/rights.js'
import { useAddressField, useSearchText } from '../../shell/address.js'
import { countStates, countTags, pickAgents } from './pick-agents.js'
import { SampleRows } from './rows-sampled.js'
import { TagFilter } from './tag-filter.js'
import { useSorted } from './use-sorted.js'

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
  const { error: ratesError, ...sorted } = useSorted(seesRates)

  return (
    <>
      <ViewHead title="Caches" />
      {error && <ErrorNote error={error} onRetry={reload} />}
      {ratesError && <ErrorNote error={ratesError} />}
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
          {...sorted}
          linkOf={({ id }) => `/caches/${id}`}
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
