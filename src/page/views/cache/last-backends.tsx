/** The backends of a cache that is Down, as its agent last reported them. */
import { useMemo } from 'preact/hooks'
import { backend as resource, type Backend } from '../../../resources/backend.js'
import { useObject } from '../../api/object.js'
import { agoColumn, codeColumn, stateColumn, textColumn } from '../../parts/columns.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { mayRead } from '../../session/rights.js'
import { describeHealth } from '../backends/describe-health.js'
import type { SectionProps } from './cache.js'

/** A backend with an id, which the API's rows do not have. */
interface ReportedBackend extends Backend {
  readonly id: number
}

export function LastBackends({ agent }: Pick<SectionProps, 'agent'>) {
  const path = mayRead('vclgroup') ? `${resource.path}?seenBy=${agent.id}` : null
  const { value, error, reload } = useObject<readonly Backend[]>(path)
  const rows = useMemo(() => value?.map((row, id) => ({ ...row, id })) ?? [], [value])
  if (error) return <ErrorNote error={error} onRetry={reload} />
  if (rows.length === 0) return null
  return (
    <>
      <p class="quiet">
        As of <Time at={agent.lastHeartbeat} />, cache is Down:
      </p>
      <Table label="Backends as last reported" rows={rows} columns={columns} />
    </>
  )
}

const columns: readonly Column<ReportedBackend>[] = [
  codeColumn('Backend', ({ name }) => name),
  textColumn('Group', ({ vclGroup }) => vclGroup.name),
  stateColumn('Health', (row) => describeHealth(row).words, {
    width: '7rem',
    toneOf: (row) => describeHealth(row).tone,
  }),
  agoColumn('Sick since', ({ since }) => since, { from: 'medium' }),
]
