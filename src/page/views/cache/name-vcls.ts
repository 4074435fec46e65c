/** What a VCL on a cache is, in words: "shop, revision 3" in place of `cf-7-0a1b2c3d-2`. */
import type { Group } from '../../../resources/vclgroup.js'
import type { Vcl } from '../../api/engine.js'

interface NamedOnCache {
  readonly agentId: number
  /** What the cache holds; not known yet: none. */
  readonly vcls: readonly Vcl[]
  /** Those that the person may read. */
  readonly groups: readonly Group[]
}

export function nameVcl(name: string, of: NamedOnCache): string {
  if (name === 'cf-idle') return 'Idle VCL, answers 503'
  if (/^cf-r-[0-9a-f]{8}$/.test(name)) return 'Routing by host'
  const [, kind, labelled] = /^cf-([ls])-([1-9]\d*)$/.exec(name) ?? []
  if (labelled !== undefined)
    return `${nameGroup(Number(labelled), of)}, ${kind === 's' ? 'label of its stage' : 'label'}`
  const id = groupIdOf(name)
  // What nobody of ours loaded, or was adopted, has a name of its own.
  return id === null ? name : `${nameGroup(id, of)}, ${describeUse(name, id, of)}`
}

/** Null: it is not the VCL of one group. */
export function groupIdOf(vcl: string): number | null {
  const [, id] = /^cf-([1-9]\d*)-/.exec(vcl) ?? []
  return id === undefined ? null : Number(id)
}

function nameGroup(id: number, { groups }: NamedOnCache): string {
  return groups.find((group) => group.id === id)?.name ?? `group ${id}`
}

/** Of its revisions only the one that serves is known by its name. */
function describeUse(name: string, id: number, { vcls, groups, agentId }: NamedOnCache): string {
  const isTarget = (label: string) => vcls.some((vcl) => vcl.name === label && vcl.label === name)
  const isActive = vcls.some((vcl) => vcl.name === name && vcl.status === 'active')
  if (!isActive && !isTarget(`cf-l-${id}`))
    return isTarget(`cf-s-${id}`) ? 'stage' : 'does not serve'
  const group = groups.find((one) => one.id === id)
  const revision = group?.agentStates.find(({ agent }) => agent.id === agentId)?.revision ?? null
  return revision === null ? 'serves' : `revision ${revision}`
}
