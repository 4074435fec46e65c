/**
 * A VCL that was discarded lives on while a request, or a worker that idles (for up to 60 s), holds it, and lets go of the labels it
 * returns only at its end. All releases free a label at once and are written to there afterwards: by and by the child dies
 * (cache_vcl.c, vcl_cli_discard; cache_vpi.c, VPI_vcl_rel). So labels go when nothing that was discarded is listed.
 */
import type { EngineInventory } from './engine-inventory.js'
import type { VclStep } from './plan.js'

interface SplitNames {
  /** Labels, and what they stand for: it cannot go before them. */
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

/** Without what has to wait. */
export function leaveHeldLabels(
  steps: readonly VclStep[],
  inventory: EngineInventory,
): readonly VclStep[] {
  if (!inventory.isReleasing) return steps
  return steps.filter(
    (step) => step.do !== 'discard' || splitLabels(step.names, inventory).others.length > 0,
  )
}
