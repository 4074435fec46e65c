/** All VCL groups: their state, and on how many caches they are. */
import { useSignal } from '@preact/signals'
import { useLocation } from 'wouter-preact'
import type { Group } from '../../api/group.js'
import { useList } from '../../api/list.js'
import { Choices } from '../../parts/choices.js'
import { nameColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { NewButton } from '../../parts/new-button.js'
import { ObjectList } from '../../parts/object-list.js'
import { sayCount, unknown } from '../../parts/quantity.js'
import { Labels, StateChip } from '../../parts/state-chip.js'
import type { Column } from '../../parts/table.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayWrite } from '../../session/rights.js'
import { useAddressField, useSearchText } from '../../shell/address.js'
import { countStates } from '../caches/pick-agents.js'
import { groupEvents } from '../group/group-events.js'
import { GroupForm } from '../group/group-form.js'
import { countPlaces, pickGroups } from './pick-groups.js'

export function View() {
  const list = useList<Group>('/vclgroups', { follow: groupEvents })
  const { rows } = list
  const text = useSearchText()
  const [state, setState] = useAddressField('state')
  const isMaking = useSignal(false)
  const [, go] = useLocation()
  const shown = pickGroups(rows, { text, state })
  const ask = (isAsked: boolean): void => {
    isMaking.value = isAsked
  }
  return (
    <>
      <ViewHead title="Groups">
        {mayWrite('vclgroup') && (
          <NewButton
            noun="group"
            onPress={() => {
              ask(true)
            }}
          />
        )}
      </ViewHead>
      {rows.length > 0 && (
        <Choices
          label="State"
          value={state}
          onChoose={setState}
          choices={[{ value: '', title: 'All', count: rows.length }, ...countStates(rows)]}
        />
      )}
      <ObjectList
        {...{ list, columns, label: 'Groups', rows: shown }}
        linkOf={({ id }) => `/groups/${id}`}
        sorting={{ title: 'Name', isDescending: false }}
      >
        <NoGroups />
      </ObjectList>
      {isMaking.value && (
        <GroupForm
          before={null}
          onSaved={({ id }) => {
            go(`/groups/${id}`)
          }}
          onClose={() => {
            ask(false)
          }}
        />
      )}
    </>
  )
}

const columns: readonly Column<Group>[] = [
  nameColumn(({ name }) => name),
  {
    title: 'State',
    width: '8.5rem',
    show: ({ stateName }) => <StateChip state={stateName} />,
    sortBy: ({ state }) => state,
  },
  {
    title: 'Caches',
    width: '6.5rem',
    from: 'medium',
    isEnd: true,
    show: (group) => sayPlaces(group),
    sortBy: ({ agentStates }) => agentStates.length,
  },
  {
    title: 'Revision',
    width: '6.5rem',
    from: 'medium',
    isEnd: true,
    show: ({ revision }) => (revision === 0 ? unknown : sayCount(revision)),
    sortBy: ({ revision }) => revision,
  },
  {
    title: 'Main VCL',
    width: '17%',
    from: 'wide',
    show: ({ mainVCL }) => mainVCL?.name ?? unknown,
    sortBy: ({ mainVCL }) => mainVCL?.name ?? null,
  },
  {
    title: 'Domains',
    width: '17%',
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
    width: '14%',
    from: 'wide',
    show: ({ deployments, console }) =>
      console ? (
        <span class="quiet">the console's</span>
      ) : (
        <Labels words={deployments.map(({ name }) => name)} />
      ),
  },
]

function sayPlaces(group: Group): string {
  const { applied, all } = countPlaces(group)
  return all === 0 ? unknown : `${sayCount(applied)} of ${sayCount(all)}`
}

function NoGroups() {
  return (
    <Empty icon="group" title="No groups yet">
      <p>
        A group is what is deployed together: a main VCL, its includes, its domains. Make a VCL file
        and a deployment first, then the group, and look at what a deploy would do.
      </p>
    </Empty>
  )
}
