/** The target caches of a certificate: the state of each, and why a cache does not have it. */
import type { Certificate } from '../../../resources/certificate.js'
import { placeStateName } from '../../../resources/place-state.js'
import { cacheColumn } from '../../parts/cache-column.js'
import { agoColumn, stateColumn } from '../../parts/columns.js'
import { FailureNotes } from '../../parts/failure-notes.js'
import { formatNames } from '../../parts/format-names.js'
import { groupFailures } from '../../parts/group-failures.js'
import { Table, type Column } from '../../parts/table.js'
import { useIllAgents } from '../../parts/use-ill-agents.js'

type Place = Certificate['agentStates'][number]
type Row = Place & { readonly id: number; readonly shown: string }

/** Why a cache is passed over, and the remedy. */
const reasons: Readonly<Record<string, { readonly why: string; readonly remedy: string }>> = {
  'no-tls': {
    why: 'no TLS listener',
    remedy: 'start the cache with -a :443,https, and it gets the certificate',
  },
  conflict: {
    why: 'another certificate',
    remedy: 'another certificate there has one of the domains; a domain has one on a cache',
  },
}

export function AgentTable({ places }: { readonly places: readonly Place[] }) {
  const ill = useIllAgents()
  if (places.length === 0)
    return (
      <p class="quiet">
        None: no cache has all tags of one of its deployments, or it was not deployed.
      </p>
    )
  return (
    <>
      <Table
        label="Caches of the certificate"
        rows={places.map((place) => ({
          ...place,
          id: place.agent.id,
          shown: placeStateName(place.state, ill.get(place.agent.id)),
        }))}
        columns={columns}
        sorting={{ title: 'State', isDescending: false }}
      />
      <Explanations places={places} />
    </>
  )
}

/** What needs attention first. */
const order = ['failed', 'applying', 'wanted', 'passed', 'applied']

const columns: readonly Column<Row>[] = [
  cacheColumn(({ agent }) => agent),
  stateColumn('State', ({ shown }) => shown, {
    width: '8.5rem',
    sortBy: ({ state }) => order.indexOf(state),
  }),
  {
    title: 'Why',
    width: '45%',
    from: 'medium',
    show: (row) => <span title={explain(row)}>{explain(row)}</span>,
    sortBy: explain,
  },
  agoColumn('Since', ({ deployedAt }) => deployedAt, { from: 'wide' }),
]

function explain({ reason, error }: Place): string {
  return error ?? (reason === null ? '' : (reasons[reason]?.why ?? reason))
}

/** The full explanations: a table row has one line, and on a narrow screen none. */
function Explanations({ places }: { readonly places: readonly Place[] }) {
  const remedies = places.map(({ agent, reason }) => ({
    agent,
    error: (reason === null ? null : reasons[reason]?.remedy) ?? null,
  }))
  return (
    <>
      <FailureNotes places={places} />
      {groupFailures(remedies).map(({ error, agents }) => (
        <p class="quiet certificate-remedy" key={error}>
          {formatNames(agents)}: {error}
        </p>
      ))}
    </>
  )
}
