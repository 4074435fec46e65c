/** The VCLs and labels that a cache holds. */
import { useMemo } from 'preact/hooks'
import type { Vcl } from '../../api/engine.js'
import { useObject } from '../../api/object.js'
import { sayCount, unknown } from '../../parts/quantity.js'
import { StateChip } from '../../parts/state-chip.js'
import { Table, type Column } from '../../parts/table.js'
import { Asked } from './asked.js'
import type { SectionProps } from './cache.js'

export function VclsSection({ agent }: SectionProps) {
  const asked = useObject<readonly Vcl[]>(`/agents/${agent.id}/vcls`, {
    follow: 'agent',
    id: agent.id,
  })
  const rows = useMemo(() => asked.value?.map((vcl) => ({ ...vcl, id: vcl.name })), [asked.value])
  return (
    <Asked {...asked} isEmpty={rows?.length === 0} icon="file" title="The cache holds no VCL">
      {rows && <Table label="VCLs and labels" rows={rows} columns={columns} />}
    </Asked>
  )
}

const columns: readonly Column<Vcl>[] = [
  {
    title: 'Name',
    show: ({ name }) => <code title={name}>{name}</code>,
    sortBy: ({ name }) => name,
  },
  {
    title: 'Status',
    width: '8.5rem',
    show: ({ status }) => <StateChip state={status} tone={status === 'active' ? 'good' : 'calm'} />,
    sortBy: ({ status }) => status,
  },
  {
    title: 'Stands for',
    from: 'medium',
    show: ({ label }) => (label === null ? unknown : <code title={label}>{label}</code>),
    sortBy: ({ label }) => label,
  },
  {
    title: 'Temperature',
    width: '9rem',
    from: 'medium',
    show: ({ temperature, state }) => temperature ?? state,
    sortBy: ({ temperature }) => temperature,
  },
  {
    title: 'Busy',
    width: '6rem',
    from: 'medium',
    isEnd: true,
    show: ({ busy }) => sayCount(busy),
    sortBy: ({ busy }) => busy,
  },
]
