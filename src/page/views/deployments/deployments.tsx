/** Deployments: which caches groups may use, and how many of them. */
import { useSignal } from '@preact/signals'
import { useLocation } from 'wouter-preact'
import type { Deployment } from '../../api/deployment.js'
import { useList } from '../../api/list.js'
import { countColumn, nameColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { NewButton } from '../../parts/new-button.js'
import { ObjectList } from '../../parts/object-list.js'
import { Labels, StateChip } from '../../parts/state-chip.js'
import type { Column } from '../../parts/table.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayWrite, readWho } from '../../session/rights.js'
import { useSearchText } from '../../shell/address.js'
import { DeploymentForm } from './deployment-form.js'

export function View() {
  const list = useList<Deployment>('/deployments', { follow: ['deployment'] })
  const text = useSearchText()
  const isMaking = useSignal(false)
  const [, go] = useLocation()
  const shown = list.rows.filter(({ name, tags }) =>
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
      <ObjectList
        {...{ list, columns, label: 'Deployments', rows: shown }}
        linkOf={({ id }) => `/deployments/${id}`}
        sorting={{ title: 'Name', isDescending: false }}
      >
        <NoDeployments />
      </ObjectList>
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
  nameColumn(({ name }) => name),
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
  countColumn('Caches', ({ agents }) => agents.length, { from: 'medium' }),
  countColumn('Min', ({ min }) => min, { from: 'medium' }),
  countColumn('Max', ({ max }) => max, { from: 'medium' }),
]

function NoDeployments() {
  return (
    <Empty icon="deployment" title="No deployments yet">
      <p>
        A deployment names tags: groups that use it are put on caches that bear them all, on as many
        as its max, and never switch on fewer than its min.
      </p>
    </Empty>
  )
}
