/** Filters groups by the filters in the URL, and counts the progress of each. Pure functions. */
import type { AgentState } from '../../../resources/agent-state.js'
import { placeStateName } from '../../../resources/place-state.js'
import type { Group } from '../../../resources/vclgroup.js'

interface GroupFilter {
  /** Lower-case text that the name, files, domains or deployments contain. */
  readonly text: string
  /** Empty: all states. */
  readonly state: string
}

type Filtered = Pick<
  Group,
  'name' | 'stateName' | 'mainVCL' | 'includes' | 'domains' | 'deployments'
>

export function filterGroups<T extends Filtered>(
  groups: readonly T[],
  { text, state }: GroupFilter,
): readonly T[] {
  return groups.filter(
    (group) =>
      (state === '' || group.stateName === state) &&
      (text === '' || wordsOf(group).some((word) => word.toLowerCase().includes(text))),
  )
}

function wordsOf({ name, mainVCL, includes, domains, deployments }: Filtered): readonly string[] {
  return [
    ...[name, mainVCL?.name ?? ''],
    ...includes.map((one) => one.name),
    ...domains.map(({ fqdn }) => fqdn),
    ...deployments.map((one) => one.name),
  ]
}

/** `applied` of `all` caches have applied the group's desired state; caches that are Down or otherwise `ill` do not count. */
export function countPlaces(
  { agentStates }: Pick<Group, 'agentStates'>,
  ill: ReadonlyMap<number, AgentState>,
): {
  readonly applied: number
  readonly all: number
} {
  const applied = agentStates.filter(
    ({ agent, state }) => placeStateName(state, ill.get(agent.id)) === 'applied',
  ).length
  return { applied, all: agentStates.length }
}
