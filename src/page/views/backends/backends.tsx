/** Backends of all groups, as the caches that serve the groups see them: the worst first. */
import { useMemo } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { backend as resource, type Backend } from '../../../resources/backend.js'
import { useObject } from '../../api/object.js'
import type { List } from '../../api/list.js'
import { agoColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { ListView } from '../../parts/list-view.js'
import { StateChip } from '../../parts/state-chip.js'
import type { Column } from '../../parts/table.js'
import { mayRead } from '../../session/rights.js'
import { describeHealth, searchedText } from './describe-health.js'

/** A backend with an id, which the API's rows do not have. */
interface BackendRow extends Backend {
  readonly id: number
}

/** Only the worst are read; users do not read more. */
const maxRows = 1_000

export function View() {
  const list = useBackends()
  return (
    <ListView
      title="Backends"
      list={list}
      textOf={searchedText}
      columns={columns}
      linkOf={({ vclGroup }) => `/groups/${vclGroup.id}`}
      empty={<NoBackends />}
    >
      {list.rows.length === maxRows && (
        <p class="quiet">
          These are the worst {maxRows}. Filter by group in the client for others.
        </p>
      )}
    </ListView>
  )
}

function useBackends(): List<BackendRow> {
  const path = mayRead('vclgroup') ? `${resource.path}?take=${maxRows}` : null
  const { value, error, reload } = useObject<readonly Backend[]>(path, {
    follow: ['backend', 'deployment'],
  })
  const rows = useMemo(() => value?.map((row, id) => ({ ...row, id })) ?? [], [value])
  const isRead = value !== null || error !== null || path === null
  return { rows, total: rows.length, phase: isRead ? 'ready' : 'loading', error, reload }
}

const columns: readonly Column<BackendRow>[] = [
  {
    title: 'Backend',
    sortBy: ({ name }) => name,
    show: ({ name, vclGroup }) => (
      <span title={`${name} of ${vclGroup.name}`}>
        <code>{name}</code>
      </span>
    ),
  },
  {
    title: 'Group',
    sortBy: ({ vclGroup }) => vclGroup.name,
    show: ({ vclGroup }) => vclGroup.name,
  },
  {
    title: 'Health',
    width: '9.5rem',
    sortBy: ({ healthy, sick }) => sick * 1_000_000 - healthy,
    show: (row) => {
      const { words, tone } = describeHealth(row)
      return <StateChip state={words} tone={tone} />
    },
  },
  {
    title: 'Sick on',
    from: 'medium',
    sortBy: ({ sick }) => sick,
    show: (row) => <SickCaches of={row} />,
  },
  agoColumn('Since', ({ since }) => since, { from: 'medium' }),
]

/** Only the first caches are linked, since a row is one line high. */
const maxLinked = 3

function SickCaches({ of: { agents, sick } }: { readonly of: Backend }) {
  const linked = agents.slice(0, maxLinked)
  return (
    <span title={agents.map(({ name }) => name).join(', ')}>
      {linked.map(({ id, name }, at) => (
        <>
          {at > 0 && ', '}
          <Link key={id} href={`/caches/${id}/backends`}>
            {name}
          </Link>
        </>
      ))}
      {sick > linked.length && ` and ${sick - linked.length} more`}
    </span>
  )
}

function NoBackends() {
  if (!mayRead('vclgroup'))
    return (
      <Empty icon="backend" title="Backends are shown by their groups">
        <p>You may not read VCL groups. An administrator of your organization can allow it.</p>
      </Empty>
    )
  return (
    <Empty icon="backend" title="No backends yet">
      <p>They are listed once a group is deployed to a cache that runs, within some seconds.</p>
    </Empty>
  )
}
