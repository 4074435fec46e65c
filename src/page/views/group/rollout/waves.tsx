/** The waves of a rollout: the state and caches of each. */
import type { AgentInWave, Rollout, Wave } from '../../../../resources/rollout.js'
import { cacheColumn } from '../../../parts/cache-column.js'
import { formatNames } from '../../../parts/format-names.js'
import { formatCount, unknown } from '../../../parts/quantity.js'
import { StateChip } from '../../../parts/state-chip.js'
import { Table, type Column } from '../../../parts/table.js'
import { Time } from '../../../parts/time.js'
import { Details } from '../details.js'
import { countStates, judgeWave, wordOfState } from './describe-rollout.js'

export function Waves({ rollout }: { readonly rollout: Rollout }) {
  return (
    <ol class="plain-list" aria-label="Waves">
      {rollout.waves.map((wave, at) => (
        <li key={at}>
          <OneWave wave={wave} number={at + 1} state={judgeWave(rollout, at)} />
        </li>
      ))}
    </ol>
  )
}

interface OneWaveProps {
  readonly wave: Wave
  readonly number: number
  readonly state: string
}

function OneWave({ wave, number, state }: OneWaveProps) {
  const { agents, startedAt } = wave
  const line = (
    <>
      <span class="group-file-name">Wave {number}</span>
      <StateChip state={state} />
      {agents && <Counts agents={agents} isBegun={startedAt !== null} />}
      {startedAt !== null && (
        <span class="quiet">
          begun <Time at={startedAt} isAgo />
        </span>
      )}
    </>
  )
  return (
    <Details line={line} isOpen={false}>
      {() => agents && <WaveAgents agents={agents} number={number} />}
    </Details>
  )
}

interface CountsProps {
  readonly agents: readonly AgentInWave[]
  readonly isBegun: boolean
}

function Counts({ agents, isBegun }: CountsProps) {
  const names = formatNames(agents.map(({ agent }) => agent.name))
  const caches = `${formatCount(agents.length)} ${agents.length === 1 ? 'cache' : 'caches'}`
  const counts = countStates(agents).map(
    ({ state, count }) => `${formatCount(count)} ${wordOfState(state).toLowerCase()}`,
  )
  return (
    <>
      <span>{isBegun ? counts.join(', ') : caches}</span>
      <span class="quiet group-agents">{names}</span>
    </>
  )
}

function WaveAgents({ agents, number }: Pick<CountsProps, 'agents'> & { readonly number: number }) {
  const rows = agents.map((one) => ({ ...one, id: one.agent.id }))
  return <Table label={`Caches of wave ${number}`} rows={rows} columns={columns} isDense />
}

const columns: readonly Column<AgentInWave & { readonly id: number }>[] = [
  cacheColumn(({ agent }) => agent),
  {
    title: 'State',
    width: '8.5rem',
    show: ({ state }) => <StateChip state={wordOfState(state).toLowerCase()} />,
    sortBy: ({ state }) => state,
  },
  {
    title: 'Error',
    width: '50%',
    from: 'medium',
    show: ({ error }) => <span title={error ?? ''}>{error ?? unknown}</span>,
  },
]
