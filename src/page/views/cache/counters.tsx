/** The counters of a cache, updated every second: rates per second for counters, levels for gauges. */
import { useMemo } from 'preact/hooks'
import type { Counter } from '../../api/counter.js'
import { useObject } from '../../api/object.js'
import { useSamples } from '../../api/samples.js'
import { codeColumn, textColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { formatBytes, formatCount, formatRate } from '../../parts/quantity.js'
import { Table, type Column } from '../../parts/table.js'
import { useAddressField } from '../../shell/address.js'
import type { SectionProps } from './cache.js'
import { FindField, filledFrom } from './find-field.js'

interface CounterRow {
  readonly id: string
  readonly value: number | null
  readonly kind: Counter['kind']
  readonly description: string
}

export function CountersSection({ agent }: SectionProps) {
  const { value: counters, error, reload } = useObject<readonly Counter[]>('/counters')
  const sample = useSamples([agent.id]).get(agent.id)
  const [text] = useAddressField('find')
  const rows = useMemo(() => toRows(sample?.values ?? {}, counters ?? []), [sample, counters])
  const shown = rows.filter(({ id, description }) =>
    `${id} ${description}`.toLowerCase().includes(text.toLowerCase()),
  )
  const isAway = agent.state === 3
  if (isAway) return <Empty icon="graph" title="The agent is offline: no counters" />
  return (
    <>
      {error && <ErrorNote error={error} onRetry={reload} />}
      <FindField label="Find a counter" />
      {!sample && <Loading />}
      {shown.length > 0 && (
        <Table
          label="Counters"
          rows={shown}
          columns={columns}
          sorting={{ title: 'Name', isDescending: false }}
          fills={shown.length > filledFrom}
        />
      )}
      {sample && shown.length === 0 && <Empty icon="search" title="No counter matches" />}
    </>
  )
}

function toRows(
  values: Readonly<Record<string, number | null>>,
  counters: readonly Counter[],
): readonly CounterRow[] {
  const known = new Map(counters.map((counter) => [counter.name, counter]))
  return Object.entries(values).map(([id, value]) => ({
    id,
    value,
    // Each backend has a few counters beyond the usual ones; its connections are a level.
    kind: known.get(id)?.kind ?? (/\.conn$|\.g_\w+$/.test(id) ? 'gauge' : 'counter'),
    description: known.get(id)?.description ?? '',
  }))
}

const columns: readonly Column<CounterRow>[] = [
  codeColumn('Name', ({ id }) => id),
  textColumn('Now', formatValue, { width: '9rem', isEnd: true, sortBy: ({ value }) => value }),
  { title: 'What it counts', from: 'medium', show: ({ description }) => description },
]

function formatValue({ id, value, kind }: CounterRow): string {
  const isBytes = /bytes$|g_space$/.test(id)
  if (kind === 'gauge') return isBytes ? formatBytes(value) : formatCount(value)
  return isBytes && value !== null ? `${formatBytes(value)}/s` : formatRate(value)
}
