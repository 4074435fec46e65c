/** Deployments: which caches groups may use, and how many of them. */
import { useLocation } from 'wouter-preact'
import type { Deployment } from '../../../resources/deployment.js'
import { useList } from '../../api/list.js'
import { countColumn, labelsColumn, stateColumn, textColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { ListView } from '../../parts/list-view.js'
import { readOwner } from '../../parts/owner.js'
import type { Column } from '../../parts/table.js'
import { mayWrite, readWho } from '../../session/rights.js'
import { DeploymentForm } from './deployment-form.js'

export function View() {
  const [, go] = useLocation()
  return (
    <ListView
      title="Deployments"
      list={useList<Deployment>('/deployments', { follow: ['deployment'] })}
      textOf={({ name, tags }) => [name, ...tags.map((tag) => tag.name)].join('\n')}
      columns={columns}
      ownerOf={readOwner}
      linkOf={({ id }) => `/deployments/${id}`}
      sorting={{ title: 'Name', isDescending: false }}
      noun={mayWrite('deployment') ? 'deployment' : null}
      dialog={({ onClose }) => (
        <DeploymentForm
          before={null}
          owner={readWho()?.organization ?? null}
          onSaved={({ id }) => {
            go(`/deployments/${id}`)
          }}
          onClose={onClose}
        />
      )}
      empty={<NoDeployments />}
    />
  )
}

const columns: readonly Column<Deployment>[] = [
  textColumn('Name', ({ name }) => name),
  stateColumn('State', ({ stateName }) => stateName, {
    width: '8.5rem',
    sortBy: ({ state }) => state,
  }),
  labelsColumn('Tags', ({ tags }) => tags.map(({ name }) => name), { from: 'medium' }),
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
