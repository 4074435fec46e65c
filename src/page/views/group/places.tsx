/** The caches of a group: how far each is, and what failed where. */
import type { Group, Place } from '../../../resources/vclgroup.js'
import { Link } from 'wouter-preact'
import { placeStateName } from '../../../resources/place-state.js'
import { agoColumn } from '../../parts/columns.js'
import { formatCount, unknown } from '../../parts/quantity.js'
import { StateChip, type Tone } from '../../parts/state-chip.js'
import { Table, type Column } from '../../parts/table.js'
import { mayRead } from '../../session/rights.js'
import { useIllAgents } from '../../parts/use-ill-agents.js'
import { groupFailures } from '../../parts/group-failures.js'
import { stepOf, type Step } from './place-steps.js'
import { formatNames } from '../../parts/format-names.js'
import type { Verbs } from './use-verbs.js'

type Row = Place & { readonly id: number; readonly step: Step; readonly shown: string }

export const stepTones: Readonly<Record<Step, Tone>> = {
  loading: 'busy',
  loaded: 'good',
  switching: 'busy',
  applied: 'good',
  failed: 'bad',
  wanted: 'busy',
}

export function Places({ group, last }: { readonly group: Group; readonly last: Verbs['last'] }) {
  const before = last?.revisionBefore ?? null
  const ill = useIllAgents()
  const rows = group.agentStates.map((place) => {
    const step = stepOf(place, group, before)
    const { id } = place.agent
    return { ...place, id, step, shown: placeStateName(step, ill.get(id)) }
  })
  if (rows.length === 0) return <p class="quiet">Not on any cache.</p>
  return (
    <>
      <Table
        label="Caches of the group"
        rows={rows}
        columns={columns}
        sorting={{ title: 'Cache', isDescending: false }}
      />
      <Failures places={group.agentStates} />
    </>
  )
}

/** Each distinct text of the compiler once, whole, with its file and line. */
export function Failures({ places }: { readonly places: readonly Place[] }) {
  return groupFailures(places).map(({ error, agents }) => (
    <section
      class="group-note tone-bad"
      key={error}
      aria-label={`What failed on ${agents[0] ?? ''}`}
    >
      <p>{formatNames(agents)}:</p>
      <pre tabIndex={0}>{error}</pre>
    </section>
  ))
}

const columns: readonly Column<Row>[] = [
  {
    title: 'Cache',
    show: ({ agent }) =>
      mayRead('agent') ? (
        <Link href={`/caches/${agent.id}`} class="group-link">
          {agent.name}
        </Link>
      ) : (
        agent.name
      ),
    sortBy: ({ agent }) => agent.name,
  },
  {
    title: 'State',
    width: '8.5rem',
    show: ({ step, shown }) => (
      <StateChip state={shown} {...(shown === step && { tone: stepTones[step] })} />
    ),
    sortBy: ({ shown }) => shown,
  },
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
