/** The bans in a cache's ban list. */
import { useMemo } from 'preact/hooks'
import type { Ban } from '../../api/engine.js'
import { useObject } from '../../api/object.js'
import { Button } from '../../parts/button.js'
import { agoColumn, countColumn, stateColumn } from '../../parts/columns.js'
import { Table, type Column } from '../../parts/table.js'
import { toIso } from '../../parts/time.js'
import { CacheAnswer } from './answer.js'
import type { SectionProps } from './cache.js'

interface BanRow extends Ban {
  readonly id: number
}

export function BansSection({ agent }: SectionProps) {
  const answer = useObject<readonly Ban[]>(`/agents/${agent.id}/bans`)
  const rows = useMemo(
    () => answer.value?.map((ban, index) => ({ ...ban, id: index })),
    [answer.value],
  )
  return (
    <>
      <div class="row">
        <Button icon="refresh" onClick={answer.reload}>
          Reload
        </Button>
      </div>
      <CacheAnswer
        agent={agent}
        {...answer}
        isEmpty={rows?.length === 0}
        icon="invalidation"
        title="No bans"
      >
        {rows && <Table label="Bans" rows={rows} columns={columns} />}
      </CacheAnswer>
    </>
  )
}

const columns: readonly Column<BanRow>[] = [
  {
    title: 'Expression',
    sortBy: ({ expression }) => expression,
    show: ({ expression }) =>
      expression === '' ? (
        <span class="quiet">the start of the list</span>
      ) : (
        <code title={expression}>{expression}</code>
      ),
  },
  stateColumn('State', ({ isCompleted }) => (isCompleted ? 'Completed' : 'Active'), {
    toneOf: ({ isCompleted }) => (isCompleted ? 'calm' : 'good'),
    width: '8.5rem',
    sortBy: ({ isCompleted }) => Number(isCompleted),
  }),
  countColumn('Objects', ({ references }) => references, { width: '7rem', from: 'medium' }),
  agoColumn('Created', ({ timeSeconds }) => toIso(timeSeconds), {
    width: '10rem',
    from: 'medium',
    sortBy: ({ timeSeconds }) => timeSeconds,
  }),
]
