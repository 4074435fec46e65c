/** Which VCL serves each group on this cache, derived from the desired state. Pure. */
import { groupIdOf, type DesiredEngine } from '../../vcl/desired-engine.js'

/** By group id; without stages. */
export function listServedPrograms(desired: DesiredEngine | null): ReadonlyMap<number, string> {
  if (desired === null) return new Map()
  const { active, rootGroup, labels } = desired
  const root = rootGroup ?? groupIdOf(active)
  const labelled = labels.flatMap(({ label, program }): [number, string][] => {
    const id = /^cf-l-(\d{1,15})$/.exec(label)?.[1]
    return id === undefined ? [] : [[Number(id), program]]
  })
  return new Map([...(root === null ? [] : [[root, active] as const]), ...labelled])
}
