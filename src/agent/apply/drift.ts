/** Finds what somebody else changed on a cache that was as desired (docs/behaviour.md, Drift). Pure. */
import type { DesiredEngine } from '../../vcl/desired-engine.js'
import type { EngineInventory } from '../../vcl/engine-inventory.js'

/** Returns names of VCLs and labels on the cache that this agent does not manage; the idle VCL counts like any other. */
export function findUnmanaged(
  inventory: EngineInventory,
  managed: ReadonlySet<string>,
): readonly string[] {
  return inventory.vcls.filter((vcl) => !managed.has(vcl.name)).map((vcl) => vcl.name)
}

/** Describes each difference for the report; empty when there is none. */
export function describeDifferences(
  desired: DesiredEngine,
  inventory: EngineInventory,
  managed: ReadonlySet<string>,
): readonly string[] {
  const loaded = new Map(inventory.vcls.map((vcl) => [vcl.name, vcl]))
  const active = inventory.vcls.find((vcl) => vcl.active)?.name
  return [
    ...findUnmanaged(inventory, managed).map((name) => `${name} is unmanaged`),
    ...desired.load
      .filter((program) => !loaded.has(program.name))
      .map((program) => `${program.name} is gone`),
    ...desired.labels
      .filter((label) => loaded.get(label.label)?.labelOf !== label.program)
      .map(({ label, program }) => {
        const now = loaded.get(label)?.labelOf
        return now ? `${label} points to ${now}, not to ${program}` : `${label} is gone`
      }),
    ...(active === desired.active
      ? []
      : [`${active ?? 'nothing'} is active, not ${desired.active}`]),
  ]
}
