/** The VCLs and labels that a cache holds. */
import { useMemo } from 'preact/hooks'
import type { Vcl } from '../../api/engine.js'
import { useObject } from '../../api/object.js'
import { codeColumn, countColumn, stateColumn, textColumn } from '../../parts/columns.js'
import { unknown } from '../../parts/quantity.js'
import { Table, type Column } from '../../parts/table.js'
import { CacheAnswer } from './answer.js'
import type { SectionProps } from './cache.js'

export function VclsSection({ agent }: SectionProps) {
  const answer = useObject<readonly Vcl[]>(`/agents/${agent.id}/vcls`, {
    follow: 'agent',
    id: agent.id,
  })
  const rows = useMemo(() => answer.value?.map((vcl) => ({ ...vcl, id: vcl.name })), [answer.value])
  return (
    <CacheAnswer
      {...answer}
      isEmpty={rows?.length === 0}
      icon="file"
      title="The cache holds no VCL"
    >
      {rows && <Table label="VCLs and labels" rows={rows} columns={columns} />}
    </CacheAnswer>
  )
}

const columns: readonly Column<Vcl>[] = [
  codeColumn('Name', ({ name }) => name),
  stateColumn('Status', ({ status }) => status, {
    width: '8.5rem',
    toneOf: ({ status }) => (status === 'active' ? 'good' : 'calm'),
  }),
  {
    title: 'Label of',
    from: 'medium',
    sortBy: ({ label }) => label,
    show: ({ label }) => (label === null ? unknown : <code title={label}>{label}</code>),
  },
  textColumn('Temperature', ({ temperature, state }) => temperature ?? state, {
    width: '9rem',
    from: 'medium',
    sortBy: ({ temperature }) => temperature,
  }),
  countColumn('Busy', ({ busy }) => busy, { width: '6rem', from: 'medium' }),
]
