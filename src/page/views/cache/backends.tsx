/** The backends of a cache: what their probes say, and what is set over them. */
import { useMemo } from 'preact/hooks'
import { call } from '../../api/call.js'
import { useDeed } from '../../api/deed.js'
import type { Backend, Health } from '../../api/engine.js'
import { useObject } from '../../api/object.js'
import { ErrorNote } from '../../parts/error-note.js'
import { unknown } from '../../parts/quantity.js'
import { StateChip } from '../../parts/state-chip.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { tellOutcome } from '../../parts/tell-error.js'
import { toast } from '../../parts/toasts.js'
import { Asked } from './asked.js'
import type { SectionProps } from './cache.js'
import { nameForHealth, readHealthSet } from './engine-rows.js'

interface BackendRow extends Backend {
  readonly id: string
  readonly vcl: string
  /** Its name there. */
  readonly own: string
}

function toRow(backend: Backend): BackendRow {
  const dot = backend.name.indexOf('.')
  return {
    ...{ ...backend, id: backend.name },
    ...{ vcl: backend.name.slice(0, dot), own: backend.name.slice(dot + 1) },
  }
}

export function BackendsSection({ agent, isChangeable }: SectionProps) {
  const asked = useObject<readonly Backend[]>(`/agents/${agent.id}/backends`, {
    follow: 'agent',
    id: agent.id,
  })
  const { reload } = asked
  const deed = useDeed()
  const rows = useMemo(() => asked.value?.map(toRow), [asked.value])

  const put = ({ name }: BackendRow, health: Health) => {
    const selection = encodeURIComponent(nameForHealth(name))
    return call('PUT', `/agents/${agent.id}/backends/${selection}/${health}`)
  }
  const undo = async (row: BackendRow): Promise<void> => {
    const outcome = await put(row, readHealthSet(row))
    tellOutcome(outcome, `${row.own} is as it was.`)
    reload()
  }
  const set = (row: BackendRow, health: Health): void =>
    void deed.run(
      () => put(row, health),
      () => {
        toast(`${row.own} is ${sayHealth[health]}.`, { undo: () => void undo(row) })
        reload()
      },
    )

  const columns: readonly Column<BackendRow>[] = useMemo(
    () => [
      ...shownColumns,
      {
        title: 'Counts as',
        width: '8rem',
        show: (row) => {
          if (!isChangeable) return sayHealth[readHealthSet(row)]
          return (
            <HealthSelect
              backend={row.name}
              value={readHealthSet(row)}
              isBusy={deed.isBusy}
              onChoose={(health) => {
                set(row, health)
              }}
            />
          )
        },
        sortBy: readHealthSet,
      },
    ],
    [isChangeable, agent.id, reload, deed.isBusy],
  )

  return (
    <>
      {deed.error && <ErrorNote error={deed.error} />}
      <Asked {...asked} isEmpty={rows?.length === 0} icon="cache" title="The cache has no backends">
        {rows && <Table label="Backends" rows={rows} columns={columns} />}
      </Asked>
    </>
  )
}

const sayHealth: Readonly<Record<Health, string>> = {
  auto: 'as probed',
  healthy: 'set healthy',
  sick: 'set sick',
}

const shownColumns: readonly Column<BackendRow>[] = [
  {
    title: 'Backend',
    show: ({ name, own }) => <code title={name}>{own}</code>,
    sortBy: ({ own }) => own,
  },
  {
    title: 'VCL',
    from: 'medium',
    show: ({ vcl }) => <code title={vcl}>{vcl}</code>,
    sortBy: ({ vcl }) => vcl,
  },
  {
    title: 'Health',
    width: '7rem',
    show: ({ isHealthy }) => <StateChip state={isHealthy ? 'Healthy' : 'Sick'} />,
    sortBy: ({ isHealthy }) => Number(isHealthy),
  },
  {
    title: 'Probes',
    width: '8rem',
    from: 'medium',
    isEnd: true,
    show: ({ good, total }) => (total === 0 ? 'no probe' : `${good} of ${total}`),
    sortBy: ({ good, total }) => (total === 0 ? null : good / total),
  },
  {
    title: 'Type',
    width: '8rem',
    from: 'wide',
    show: ({ type }) => type ?? unknown,
    sortBy: ({ type }) => type,
  },
  {
    title: 'Changed',
    width: '10rem',
    from: 'wide',
    show: ({ lastChangeSeconds: at }) =>
      at === null ? unknown : <Time at={new Date(at * 1000).toISOString()} isAgo />,
    sortBy: ({ lastChangeSeconds }) => lastChangeSeconds,
  },
]

interface HealthSelectProps {
  readonly backend: string
  readonly value: Health
  /** A choice before is on its way. */
  readonly isBusy: boolean
  readonly onChoose: (health: Health) => void
}

function HealthSelect({ backend, value, isBusy, onChoose }: HealthSelectProps) {
  return (
    <select
      class="field-input cache-health"
      aria-label={`Health of ${backend}`}
      value={value}
      aria-disabled={isBusy ? true : undefined}
      onChange={({ currentTarget }) => {
        onChoose(currentTarget.value as Health) // one of the options
        // What is shown is what the cache says, not what was wished.
        currentTarget.value = value
      }}
    >
      {(['auto', 'healthy', 'sick'] as const).map((health) => (
        <option key={health} value={health}>
          {sayHealth[health]}
        </option>
      ))}
    </select>
  )
}
