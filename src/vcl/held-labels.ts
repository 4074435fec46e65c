/**
 * A discarded VCL stays alive while a request or an idle worker (for up to 60 s) holds it, and releases the labels that it returns only at
 * its end. All releases free a label at once and still write to that memory later, which eventually kills the child (cache_vcl.c,
 * vcl_cli_discard; cache_vpi.c, VPI_vcl_rel). So labels are discarded only when no discarded VCL is listed.
 */
import type { EngineInventory } from './engine-inventory.js'
import type { VclStep } from './plan.js'

interface SplitNames {
  /** Labels and their VCLs, which cannot be discarded before them. */
  readonly labels: readonly string[]
  readonly others: readonly string[]
}

export function splitLabels(names: readonly string[], { vcls }: EngineInventory): SplitNames {
  const labels = vcls.filter(({ name, labelOf }) => labelOf !== null && names.includes(name))
  const held = new Set(labels.flatMap(({ name, labelOf }) => [name, labelOf ?? name]))
  return {
    labels: names.filter((name) => held.has(name)),
    others: names.filter((name) => !held.has(name)),
  }
}

/** Removes discard steps that have to wait. */
export function leaveHeldLabels(
  steps: readonly VclStep[],
  inventory: EngineInventory,
): readonly VclStep[] {
  if (!inventory.isReleasing) return steps
  return steps.filter(
    (step) => step.do !== 'discard' || splitLabels(step.names, inventory).others.length > 0,
  )
}
