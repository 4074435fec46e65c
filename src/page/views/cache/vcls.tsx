/** The VCLs and labels on a cache. */
import { useMemo } from 'preact/hooks'
import type { Agent } from '../../../resources/agent.js'
import type { Group } from '../../../resources/vclgroup.js'
import { useHeld, type Vcl } from '../../api/engine.js'
import { useList } from '../../api/list.js'
import { codeColumn, countColumn, stateColumn, textColumn } from '../../parts/columns.js'
import { unknown } from '../../parts/quantity.js'
import { Table, type Column } from '../../parts/table.js'
import { mayRead } from '../../session/rights.js'
import { CacheAnswer } from './answer.js'
import type { SectionProps } from './cache.js'
import { nameVcl } from './name-vcls.js'

/** Returns a function that describes the VCLs on this cache. */
export function useVclNames(
  { id: agentId }: Agent,
  held: readonly Vcl[] | null,
): (name: string) => string {
  const { rows: groups } = useList<Group>(mayRead('vclgroup') ? '/vclgroups' : null, {
    query: { deployed: 'true', sort: 'name' },
    follow: ['deployment'],
  })
  return useMemo(() => {
    const vcls = held ?? []
    return (name) => nameVcl(name, { agentId, vcls, groups })
  }, [agentId, held, groups])
}

export function VclsSection({ agent }: SectionProps) {
  const answer = useHeld<readonly Vcl[]>(agent.id, 'vcls')
  const nameOf = useVclNames(agent, answer.value)
  const rows = useMemo(
    () =>
      answer.value?.map((vcl) => ({
        ...vcl,
        id: vcl.name,
        title: nameOf(vcl.name),
        labelTitle: vcl.label === null ? null : nameOf(vcl.label),
      })),
    [answer.value, nameOf],
  )
  return (
    <CacheAnswer
      agent={agent}
      {...answer}
      isEmpty={rows?.length === 0}
      icon="file"
      title="The cache holds no VCL"
    >
      {rows && <Table label="VCLs and labels" rows={rows} columns={columns} />}
    </CacheAnswer>
  )
}

interface VclRow extends Vcl {
  /** Description of the VCL. */
  readonly title: string
  readonly labelTitle: string | null
}

const columns: readonly Column<VclRow>[] = [
  {
    title: 'VCL',
    sortBy: ({ title }) => title,
    show: ({ name, title }) => <span title={name}>{title}</span>,
  },
  stateColumn('Status', ({ status }) => status, {
    width: '8.5rem',
    toneOf: ({ status }) => (status === 'active' ? 'good' : 'calm'),
  }),
  {
    title: 'Label of',
    from: 'medium',
    sortBy: ({ labelTitle }) => labelTitle,
    show: ({ label, labelTitle }) =>
      label === null ? unknown : <span title={label}>{labelTitle}</span>,
  },
  textColumn('Temperature', ({ temperature, state }) => temperature ?? state, {
    width: '9rem',
    from: 'medium',
    sortBy: ({ temperature }) => temperature,
  }),
  countColumn('Busy', ({ busy }) => busy, { width: '6rem', from: 'medium' }),
  codeColumn('Name on the cache', ({ name }) => name, { from: 'wide' }),
]
