/** The bans that a cache still has to apply. */
import { useMemo } from 'preact/hooks'
import type { Ban } from '../../api/engine.js'
import { useObject } from '../../api/object.js'
import { Button } from '../../parts/button.js'
import { sayCount } from '../../parts/quantity.js'
import { StateChip } from '../../parts/state-chip.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { Asked } from './asked.js'
import type { SectionProps } from './cache.js'

interface BanRow extends Ban {
  readonly id: number
}

export function BansSection({ agent }: SectionProps) {
  const asked = useObject<readonly Ban[]>(`/agents/${agent.id}/bans`)
  const rows = useMemo(
    () => asked.value?.map((ban, index) => ({ ...ban, id: index })),
    [asked.value],
  )
  return (
    <>
      <div class="row">
        <Button icon="refresh" onClick={asked.reload}>
          Read again
        </Button>
      </div>
      <Asked
        {...asked}
        isEmpty={rows?.length === 0}
        icon="invalidation"
        title="No bans to see here"
      >
        {rows && <Table label="Bans" rows={rows} columns={columns} />}
      </Asked>
    </>
  )
}

const columns: readonly Column<BanRow>[] = [
  {
    title: 'Expression',
    show: ({ expression }) =>
      expression === '' ? (
        <span class="quiet">the start of the list</span>
      ) : (
        <code title={expression}>{expression}</code>
      ),
    sortBy: ({ expression }) => expression,
  },
  {
    title: 'State',
    width: '8.5rem',
    show: ({ isCompleted }) => (
      <StateChip
        state={isCompleted ? 'Completed' : 'Active'}
        tone={isCompleted ? 'calm' : 'good'}
      />
    ),
    sortBy: ({ isCompleted }) => Number(isCompleted),
  },
  {
    title: 'Objects',
    width: '7rem',
    from: 'medium',
    isEnd: true,
    show: ({ references }) => sayCount(references),
    sortBy: ({ references }) => references,
  },
  {
    title: 'Made',
    width: '10rem',
    from: 'medium',
    show: ({ timeSeconds }) => <Time at={new Date(timeSeconds * 1000).toISOString()} isAgo />,
    sortBy: ({ timeSeconds }) => timeSeconds,
  },
]
