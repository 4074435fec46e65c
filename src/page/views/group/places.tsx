/** The caches of a group: the progress and failures of each. */
import type { Group, Place } from '../../../resources/vclgroup.js'
import { agentStates, type AgentState } from '../../../resources/agent-state.js'
import { placeStateName } from '../../../resources/place-state.js'
import { cacheColumn } from '../../parts/cache-column.js'
import { agoColumn } from '../../parts/columns.js'
import { formatCount, unknown } from '../../parts/quantity.js'
import { StateChip, type Tone } from '../../parts/state-chip.js'
import { Table, type Column } from '../../parts/table.js'
import { useIllAgents } from '../../parts/use-ill-agents.js'
import { FailureNotes } from '../../parts/failure-notes.js'
import { stepOf, type Step } from './place-steps.js'
import type { Verbs } from './use-verbs.js'

export interface PlaceRow extends Place {
  readonly id: number
  readonly step: Step
  readonly agentState: AgentState
  /** The step, or the agent's state where that is more informative. */
  readonly shown: string
}

export const stepTones: Readonly<Record<Step, Tone>> = {
  loading: 'busy',
  applying: 'busy',
  loaded: 'good',
  switching: 'busy',
  applied: 'good',
  failed: 'bad',
  wanted: 'busy',
}

export function Places({ group, last }: { readonly group: Group; readonly last: Verbs['last'] }) {
  const before = last?.revisionBefore ?? null
  const rows = usePlaceRows(group.agentStates, (place) => stepOf(place, group, before))
  if (rows.length === 0) return <p class="quiet">Not on any cache.</p>
  return (
    <>
      <Table
        label="Caches of the group"
        rows={rows}
        columns={columns}
        sorting={{ title: 'Cache', isDescending: false }}
      />
      <FailureNotes places={group.agentStates} />
    </>
  )
}

export function usePlaceRows(
  places: readonly Place[],
  readStep: (place: Place) => Step,
): readonly PlaceRow[] {
  const ill = useIllAgents()
  return places.map((place) => {
    const step = readStep(place)
    const { id } = place.agent
    const agentState = ill.get(id) ?? agentStates.Running
    return { ...place, id, step, agentState, shown: placeStateName(step, agentState) }
  })
}

export const placeColumns: readonly Column<PlaceRow>[] = [
  cacheColumn(({ agent }) => agent),
  {
    title: 'State',
    width: '8.5rem',
    show: ({ step, shown }) => (
      <StateChip state={shown} {...(shown === step && { tone: stepTones[step] })} />
    ),
    sortBy: ({ shown }) => shown,
  },
]

const columns: readonly Column<PlaceRow>[] = [
  ...placeColumns,
  {
    title: 'Serves',
    width: '7rem',
    from: 'medium',
    isEnd: true,
    show: ({ revision }) => (revision === null ? unknown : `revision ${formatCount(revision)}`),
    sortBy: ({ revision }) => revision,
  },
  agoColumn('Since', ({ deployedAt }) => deployedAt, { from: 'medium' }),
]
