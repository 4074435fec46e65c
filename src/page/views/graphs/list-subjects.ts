/** What has graphs, and why one may have none: values in, values out. */
import type { Agent } from '../../../resources/agent.js'
import type { Reference } from '../../../resources/resource.js'

export type SubjectKind = 'agents' | 'vclgroups'

export interface Subject {
  readonly kind: SubjectKind
  /** Below the API's prefix: `agents/5`. */
  readonly path: string
  readonly name: string
  /** There may be nothing to show. */
  readonly why: string
}

/** By name, caches first. */
export function listSubjects(
  agents: readonly Pick<Agent, 'id' | 'name' | 'stateName'>[],
  groups: readonly Reference[],
): readonly Subject[] {
  return [
    ...agents.map(({ id, name, stateName }) => ({
      kind: 'agents' as const,
      path: `agents/${id}`,
      name,
      why: whyNothing(stateName),
    })),
    ...groups.map(({ id, name }) => ({
      kind: 'vclgroups' as const,
      path: `vclgroups/${id}`,
      name,
      why: 'The group is not on any cache now, or its caches were offline. Deploy it, or choose another range.',
    })),
  ].sort((a, b) => a.kind.localeCompare(b.kind) || a.name.localeCompare(b.name))
}

function whyNothing(stateName: string): string {
  if (stateName === 'Down')
    return 'The agent is offline and sends nothing until it reconnects. Choose another range.'
  if (stateName === 'Failing')
    return 'The cache is not running, so it counts nothing. Start it, or choose another range.'
  return 'The cache was offline, is new, or its agent cannot read its counters (--engine-name says where they are).'
}
