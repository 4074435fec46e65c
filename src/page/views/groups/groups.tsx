/** All VCL groups: their state, and the number of their caches. */
import { useMemo } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import type { AgentState } from '../../../resources/agent-state.js'
import type { Group } from '../../../resources/vclgroup.js'
import { useList } from '../../api/list.js'
import { Choices } from '../../parts/choices.js'
import { countColumn, textColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { ListView } from '../../parts/list-view.js'
import { readOwner } from '../../parts/owner.js'
import { formatCount, unknown } from '../../parts/quantity.js'
import { Labels, StateChip } from '../../parts/state-chip.js'
import type { Column } from '../../parts/table.js'
import { useIllAgents } from '../../parts/use-ill-agents.js'
import { mayWrite } from '../../session/rights.js'
import { useAddressField, useSearchText } from '../../shell/address.js'
import { countStates } from '../caches/filter-agents.js'
import { groupEvents } from '../group/group-events.js'
import { GroupForm } from '../group/group-form.js'
import { countPlaces, filterGroups } from './filter-groups.js'
import { nameProblem, rankGroup } from './judge-group.js'

export function View() {
  const list = useList<Group>('/vclgroups', { follow: groupEvents })
  const { rows } = list
  const text = useSearchText()
  const [state, setState] = useAddressField('state')
  const [, go] = useLocation()
  const ill = useIllAgents()
  const columns = useMemo(() => listColumns(ill), [ill])
  return (
    <ListView
      list={list}
      columns={columns}
      shown={filterGroups(rows, { text, state })}
      title="Groups"
      ownerOf={readOwner}
      linkOf={({ id }) => `/groups/${id}`}
      sorting={{ title: 'Name', isDescending: false }}
      noun={mayWrite('vclgroup') ? 'group' : null}
      dialog={({ onClose }) => (
        <GroupForm
          before={null}
          onSaved={({ id }) => {
            go(`/groups/${id}`)
          }}
          onClose={onClose}
        />
      )}
      empty={<NoGroups />}
    >
      {rows.length > 0 && (
        <Choices
          label="State"
          value={state}
          onChoose={setState}
          choices={[{ value: '', title: 'All', count: rows.length }, ...countStates(rows)]}
        />
      )}
    </ListView>
  )
}

type IllAgents = ReadonlyMap<number, AgentState>

function listColumns(ill: IllAgents): readonly Column<Group>[] {
  const places: Column<Group> = {
    title: 'Caches',
    width: '6.5rem',
    from: 'medium',
    isEnd: true,
    show: (group) => formatPlaces(group, ill),
    sortBy: ({ agentStates }) => agentStates.length,
  }
  return [nameColumn, stateColumn, places, ...furtherColumns]
}

const nameColumn = textColumn<Group>('Name', ({ name }) => name)

const stateColumn: Column<Group> = {
  title: 'State',
  width: 'min(16.5rem, 40vw)',
  show: (group) => <GroupState group={group} />,
  sortBy: rankGroup,
}

const furtherColumns: readonly Column<Group>[] = [
  countColumn('Revision', ({ revision }) => revision || null, {
    from: 'medium',
    sortBy: ({ revision }) => revision,
  }),
  textColumn('Main VCL', ({ mainVCL }) => mainVCL?.name ?? null, { from: 'widest' }),
  {
    title: 'Domains',
    from: 'wide',
    show: ({ domains }) =>
      domains.length === 0 ? (
        <span class="quiet">whole caches</span>
      ) : (
        <Labels words={domains.map(({ fqdn }) => fqdn)} />
      ),
  },
  {
    title: 'Deployments',
    from: 'widest',
    show: ({ deployments, console }) =>
      console ? (
        <span class="quiet">the console's</span>
      ) : (
        <Labels words={deployments.map(({ name }) => name)} />
      ),
  },
]

/** The problem is shown beside the state, on phones instead of it; the full text is the tooltip. */
function GroupState({ group: { stateName, problems } }: { readonly group: Group }) {
  const problem = nameProblem(problems)
  if (!problem) return <StateChip state={stateName} />
  const { name, tone, message } = problem
  return (
    <span title={message}>
      <span class="from-medium">
        <StateChip state={stateName} />{' '}
      </span>
      <StateChip state={name} tone={tone} />
    </span>
  )
}

function formatPlaces(group: Group, ill: IllAgents): string {
  const { applied, all } = countPlaces(group, ill)
  return all === 0 ? unknown : `${formatCount(applied)} of ${formatCount(all)}`
}

function NoGroups() {
  return (
    <Empty icon="group" title="No groups yet">
      <p>
        A group is what is deployed together: a main VCL, its includes, its domains. Create a VCL
        file and a deployment first, then the group, and preview its deploy.
      </p>
    </Empty>
  )
}
