/** Describes a VCL on a cache: "shop, revision 3" in place of `cf-7-0a1b2c3d-2`. */
import type { Group } from '../../../resources/vclgroup.js'
import type { Vcl } from '../../api/engine.js'

interface NamedOnCache {
  readonly agentId: number
  /** The VCLs on the cache; empty until they are known. */
  readonly vcls: readonly Vcl[]
  /** The groups that the user may read. */
  readonly groups: readonly Group[]
}

export function nameVcl(name: string, of: NamedOnCache): string {
  if (name === 'cf-idle') return 'Idle VCL, answers 503'
  if (/^cf-r-[0-9a-f]{8}$/.test(name)) return 'Routing by host'
  const [, kind, labelled] = /^cf-([ls])-([1-9]\d*)$/.exec(name) ?? []
  if (labelled !== undefined)
    return `${nameGroup(Number(labelled), of)}, ${kind === 's' ? 'label of its stage' : 'label'}`
  const id = groupIdOf(name)
  // A VCL that cachefleet did not load, or that was adopted, keeps its own name.
  return id === null ? name : `${nameGroup(id, of)}, ${describeUse(name, id, of)}`
}

/** Null: the VCL does not belong to one group. */
export function groupIdOf(vcl: string): number | null {
  const [, id] = /^cf-([1-9]\d*)-/.exec(vcl) ?? []
  return id === undefined ? null : Number(id)
}

function nameGroup(id: number, { groups }: NamedOnCache): string {
  return groups.find((group) => group.id === id)?.name ?? `group ${id}`
}

/** The revision is known only for the VCL that serves the group. */
function describeUse(name: string, id: number, { vcls, groups, agentId }: NamedOnCache): string {
  const isTarget = (label: string) => vcls.some((vcl) => vcl.name === label && vcl.label === name)
  const isActive = vcls.some((vcl) => vcl.name === name && vcl.status === 'active')
  if (!isActive && !isTarget(`cf-l-${id}`))
    return isTarget(`cf-s-${id}`) ? 'stage' : 'does not serve'
  const group = groups.find((one) => one.id === id)
  const revision = group?.agentStates.find(({ agent }) => agent.id === agentId)?.revision ?? null
  return revision === null ? 'serves' : `revision ${revision}`
}
