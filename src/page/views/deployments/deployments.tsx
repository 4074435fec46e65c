/** Deployments: which caches groups may use, and how many of them. */
import { useSignal } from '@preact/signals'
import { useLocation } from 'wouter-preact'
import type { Deployment } from '../../api/deployment.js'
import { useList } from '../../api/list.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { NewButton } from '../../parts/new-button.js'
import { sayCount } from '../../parts/quantity.js'
import { Labels, StateChip } from '../../parts/state-chip.js'
import { Table, type Column } from '../../parts/table.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayWrite, readWho } from '../../session/rights.js'
import { useSearchText } from '../../shell/address.js'
import { DeploymentForm } from './deployment-form.js'

export function View() {
  const { rows, phase, error, reload } = useList<Deployment>('/deployments', {
    follow: ['deployment'],
  })
  const text = useSearchText()
  const isMaking = useSignal(false)
  const [, go] = useLocation()
  const shown = rows.filter(({ name, tags }) =>
    [name, ...tags.map((tag) => tag.name)].some((word) => word.toLowerCase().includes(text)),
  )
  const ask = (isAsked: boolean): void => {
    isMaking.value = isAsked
  }
  return (
    <>
      <ViewHead title="Deployments">
        {mayWrite('deployment') && (
          <NewButton
            noun="deployment"
            onPress={() => {
              ask(true)
            }}
          />
        )}
      </ViewHead>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {phase === 'loading' && <Loading />}
      {shown.length > 0 && (
        <Table
          label="Deployments"
          rows={shown}
          columns={columns}
          linkOf={({ id }) => `/deployments/${id}`}
          sorting={{ title: 'Name', isDescending: false }}
          fills
        />
      )}
      {phase === 'ready' && !error && shown.length === 0 && (
        <NoDeployments isEmpty={rows.length === 0} />
      )}
      {isMaking.value && (
        <DeploymentForm
          before={null}
          owner={readWho()?.organization ?? null}
          onSaved={({ id }) => {
            go(`/deployments/${id}`)
          }}
          onClose={() => {
            ask(false)
          }}
        />
      )}
    </>
  )
}

const columns: readonly Column<Deployment>[] = [
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
    title: 'Caches',
    width: '6.5rem',
    from: 'medium',
    isEnd: true,
    show: ({ agents }) => sayCount(agents.length),
    sortBy: ({ agents }) => agents.length,
  },
  {
    title: 'Min',
    width: '5rem',
    from: 'medium',
    isEnd: true,
    show: ({ min }) => sayCount(min),
    sortBy: ({ min }) => min,
  },
  {
    title: 'Max',
    width: '5rem',
    from: 'medium',
    isEnd: true,
    show: ({ max }) => sayCount(max),
    sortBy: ({ max }) => max,
  },
]

function NoDeployments({ isEmpty }: { readonly isEmpty: boolean }) {
  if (!isEmpty) return <Empty icon="search" title="No deployment fits this search" />
  return (
    <Empty icon="deployment" title="No deployments yet">
      <p>
        A deployment names tags: groups that use it are put on caches that bear them all, on as many
        as its max, and never switch on fewer than its min.
      </p>
    </Empty>
  )
}
