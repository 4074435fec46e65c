/** The backends of a cache: probe results and health overrides. */
import { useEffect, useMemo } from 'preact/hooks'
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import { useHeld, type Backend, type Health, type Vcl } from '../../api/engine.js'
import { whenChanged } from '../../api/object.js'
import { agoColumn, stateColumn, textColumn } from '../../parts/columns.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Table, type Column } from '../../parts/table.js'
import { toIso } from '../../parts/time.js'
import { notifyOutcome } from '../../parts/notify.js'
import { toast } from '../../parts/toasts.js'
import { isNarrow } from '../../parts/window-width.js'
import { CacheAnswer } from './answer.js'
import type { SectionProps } from './cache.js'
import { nameForHealth, readHealthSet } from './engine-rows.js'
import { LastBackends } from './last-backends.js'
import { groupIdOf } from './name-vcls.js'
import { useVclNames } from './vcls.js'

interface BackendRow extends Backend {
  readonly id: string
  readonly vcl: string
  /** Description of the VCL. */
  readonly vclTitle: string
  /** Name of the backend within its VCL. */
  readonly own: string
}

function toRow(backend: Backend, nameOf: (vcl: string) => string): BackendRow {
  const dot = backend.name.indexOf('.')
  const vcl = backend.name.slice(0, dot)
  return {
    ...backend,
    id: backend.name,
    vcl,
    vclTitle: nameOf(vcl),
    own: backend.name.slice(dot + 1),
  }
}

/** Agents report health changes by the id of the group whose VCL contains the backend. */
function useHealthEvents(rows: readonly BackendRow[] | undefined, act: () => void): void {
  const ids = [...new Set(rows?.flatMap(({ vcl }) => groupIdOf(vcl) ?? []))].toSorted()
  useEffect(() => {
    const stops = ids.map((id) => whenChanged(['backend'], id, act))
    return () => {
      for (const stop of stops) stop()
    }
  }, [ids.join(), act])
}

export function BackendsSection({ agent, isChangeable }: SectionProps) {
  const answer = useHeld<readonly Backend[]>(agent.id, 'backends')
  const { reload } = answer
  const mutation = useMutation()
  const vcls = useHeld<readonly Vcl[]>(agent.id, 'vcls')
  const nameOf = useVclNames(agent, vcls.value)
  const rows = useMemo(
    () => answer.value?.map((backend) => toRow(backend, nameOf)),
    [answer.value, nameOf],
  )
  useHealthEvents(rows, reload)

  const put = ({ name }: BackendRow, health: Health) => {
    const selection = encodeURIComponent(nameForHealth(name))
    return call('PUT', `/agents/${agent.id}/backends/${selection}/${health}`)
  }
  const undo = async (row: BackendRow): Promise<void> => {
    const outcome = await put(row, readHealthSet(row))
    notifyOutcome(outcome, 'Undone.')
    reload()
  }
  const set = (row: BackendRow, health: Health): void =>
    void mutation.run(
      () => put(row, health),
      () => {
        toast(`Health override of ${row.own}: ${healthTitles[health]}.`, {
          undo: () => void undo(row),
        })
        reload()
      },
    )

  const columns: readonly Column<BackendRow>[] = useMemo(
    () => [
      ...shownColumns,
      {
        title: 'Health override',
        width: '8rem',
        sortBy: readHealthSet,
        show: (row) => {
          if (!isChangeable) return healthTitles[readHealthSet(row)]
          return (
            <HealthSelect
              backend={row.name}
              value={readHealthSet(row)}
              isBusy={mutation.isBusy}
              onChoose={(health) => {
                set(row, health)
              }}
            />
          )
        },
      },
    ],
    [isChangeable, agent.id, reload, mutation.isBusy],
  )

  return (
    <>
      {mutation.error && <ErrorNote error={mutation.error} />}
      <CacheAnswer
        agent={agent}
        {...answer}
        isEmpty={rows?.length === 0}
        icon="cache"
        title="The cache has no backends"
        known={<LastBackends agent={agent} />}
      >
        {rows && <Table label="Backends" rows={rows} columns={columns} />}
      </CacheAnswer>
    </>
  )
}

const healthTitles: Readonly<Record<Health, string>> = {
  auto: 'automatic',
  healthy: 'force healthy',
  sick: 'force sick',
}

const shownColumns: readonly Column<BackendRow>[] = [
  {
    title: 'Backend',
    sortBy: ({ own }) => own,
    show: (row) => <BackendName row={row} />,
  },
  {
    title: 'VCL',
    from: 'medium',
    sortBy: ({ vclTitle }) => vclTitle,
    show: ({ vcl, vclTitle }) => <span title={vcl}>{vclTitle}</span>,
  },
  stateColumn('Health', ({ isHealthy }) => (isHealthy ? 'Healthy' : 'Sick'), {
    width: '7rem',
    sortBy: ({ isHealthy }) => Number(isHealthy),
  }),
  {
    title: 'Probes',
    width: '8rem',
    from: 'medium',
    isEnd: true,
    show: ({ good, total }) => (total === 0 ? 'no probe' : `${good} of ${total}`),
    sortBy: ({ good, total }) => (total === 0 ? null : good / total),
  },
  textColumn('Type', ({ type }) => type, { width: '8rem', from: 'widest' }),
  agoColumn('Changed', ({ lastChangeSeconds: at }) => (at === null ? null : toIso(at)), {
    width: '10rem',
    from: 'wide',
    sortBy: (row) => row.lastChangeSeconds,
  }),
]

/** On a narrow screen there is no room for the VCL column. */
function BackendName({ row: { name, own, vclTitle } }: { readonly row: BackendRow }) {
  const code = <code title={name}>{own}</code>
  if (!isNarrow.value) return code
  return (
    <span class="cache-backend">
      {code}
      <span class="quiet">{vclTitle}</span>
    </span>
  )
}

interface HealthSelectProps {
  readonly backend: string
  readonly value: Health
  /** A previous change is in progress. */
  readonly isBusy: boolean
  readonly onChoose: (health: Health) => void
}

function HealthSelect({ backend, value, isBusy, onChoose }: HealthSelectProps) {
  return (
    <select
      class="field-input cache-health"
      aria-label={`Health override of ${backend}`}
      value={value}
      aria-disabled={isBusy ? true : undefined}
      onChange={({ currentTarget }) => {
        onChoose(currentTarget.value as Health) // one of the options
        // The select shows the health that the cache reports, not the chosen one.
        currentTarget.value = value
      }}
    >
      {(['auto', 'healthy', 'sick'] as const).map((health) => (
        <option key={health} value={health}>
          {healthTitles[health]}
        </option>
      ))}
    </select>
  )
}
