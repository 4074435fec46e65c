/** The caches of a deploy: the change on each and its reason, the progress of each, and the failures. */
import { placeStateName } from '../../../resources/place-state.js'
import type { Group } from '../../../resources/vclgroup.js'
import { cacheColumn } from '../../parts/cache-column.js'
import { stateColumn, textColumn } from '../../parts/columns.js'
import { ErrorNote } from '../../parts/error-note.js'
import { FailureNotes } from '../../parts/failure-notes.js'
import { formatCount, unknown } from '../../parts/quantity.js'
import { StateChip, type Tone } from '../../parts/state-chip.js'
import { Table, type Column } from '../../parts/table.js'
import { useIllAgents } from '../../parts/use-ill-agents.js'
import { NameChanges } from './name-changes.js'
import { nameDeployments } from './name-deployments.js'
import { stepTones } from './places.js'
import { stepOf, type Step } from './place-steps.js'
import { groupReasons, type PlaceChange, type PlannedPlace } from './plan-places.js'
import type { DeployPlan } from './use-deploy-plan.js'
import type { Verbs } from './use-verbs.js'

interface CachesTabProps {
  readonly group: Group
  readonly verbs: Verbs
  readonly plan: DeployPlan
}

export function CachesTab({ group, verbs, plan }: CachesTabProps) {
  const { places, error, reload } = plan
  const rows = useRows(group, verbs, places)
  return (
    <section class="panel" aria-label="Caches">
      {error && <ErrorNote error={error} onRetry={reload} />}
      <DeploymentChanges group={group} plan={plan} />
      <ReleaseChanges group={group} />
      <Reasons places={places} />
      {rows.length === 0 && <p class="quiet">Not on any cache, and no cache fits.</p>}
      {rows.length > 0 && <Table label="Caches of the deploy" rows={rows} columns={columns} />}
      <FailureNotes places={group.agentStates} />
    </section>
  )
}

interface Row extends PlannedPlace {
  /** Null: the group is not placed on this cache. */
  readonly step: Step | null
  /** The agent's state where that is more informative. */
  readonly shown: string
}

/** Failed caches first, then absent ones, then in the order of the plan. */
function useRows(group: Group, verbs: Verbs, places: readonly PlannedPlace[]): readonly Row[] {
  const ill = useIllAgents()
  const held = new Map(group.agentStates.map((place) => [place.agent.id, place]))
  const before = verbs.last?.revisionBefore ?? null
  const rows = places.map((place): Row => {
    const own = held.get(place.id)
    const step = own ? stepOf(own, group, before) : null
    const shown = placeStateName(step ?? unknown, ill.get(place.id))
    return { ...place, step, shown }
  })
  const rank = ({ step, shown }: Row): number =>
    step === 'failed' ? 0 : step !== null && shown !== step ? 1 : 2
  return rows.sort((a, b) => rank(a) - rank(b))
}

/** Few rows regardless of the number of caches, and complete text at any width. */
function Reasons({ places }: { readonly places: readonly PlannedPlace[] }) {
  return (
    <ul class="plain-list group-reasons">
      {groupReasons(places).map(({ change, reason, count }) => (
        <li key={`${change} ${reason}`}>
          <StateChip state={`${formatCount(count)} ${change}`} tone={changeTones[change]} />
          <span>{reason}</span>
        </li>
      ))}
    </ul>
  )
}

function DeploymentChanges({ group: { wish, deployments }, plan }: Omit<CachesTabProps, 'verbs'>) {
  if (!wish) return null
  const names = nameDeployments(wish, deployments, plan.reasons)
  const after = deployments.map(({ name }) => name)
  if (names.join('\n') === after.join('\n')) return null
  return <NameChanges label="Deployments" before={names} after={after} none="" />
}

/** Renders nothing if the permitted releases do not change. */
function ReleaseChanges({ group: { wish, releases } }: { readonly group: Group }) {
  const [before, after] = [wish?.releases ?? [], releases ?? []]
  if (!wish || before.join('\n') === after.join('\n')) return null
  return <NameChanges label="Releases" before={before} after={after} none="" />
}

const changeTones: Readonly<Record<PlaceChange, Tone>> = {
  added: 'good',
  removed: 'warn',
  waiting: 'warn',
  'no change': 'calm',
  'not placed': 'calm',
}

const columns: readonly Column<Row>[] = [
  cacheColumn((row) => row),
  stateColumn('Change', ({ change }) => change, {
    width: '7.5rem',
    toneOf: ({ change }) => changeTones[change],
  }),
  {
    title: 'State',
    width: '7rem',
    show: ({ step, shown }) =>
      shown === unknown ? (
        unknown
      ) : (
        <StateChip state={shown} {...(shown === step && { tone: stepTones[step] })} />
      ),
    sortBy: ({ shown }) => shown,
  },
  textColumn('Deployment', ({ deployment }) => deployment, { width: '16%', from: 'wide' }),
  {
    title: 'Why',
    width: '36%',
    from: 'medium',
    show: ({ reason }) => <span title={reason}>{reason}</span>,
  },
]
