/**
 * The part of a desired state that is possible when some of its VCLs do not load: the VCL that serves stays, and a failed
 * load never replaces it with the idle VCL. Pure.
 */
import { idleVclName, type DesiredEngine, type DesiredLabel } from '../../vcl/desired-engine.js'
import type { EngineInventory, LoadedVcl } from '../../vcl/engine-inventory.js'
import { idleVclSha, type VclStep } from '../../vcl/plan.js'
import { findServing } from '../engine/boot-file.js'

interface Feasible {
  readonly desired: DesiredEngine
  /** Kept only because they serve; unmanaged names among them are left alone for now. */
  readonly kept: readonly string[]
}

/** `failed` names VCLs and labels that could not be loaded, set or used. */
export function findFeasible(
  desired: DesiredEngine,
  failed: ReadonlySet<string>,
  inventory: EngineInventory,
): Feasible {
  if (failed.size === 0) return { desired, kept: [] }
  const loaded = new Map(inventory.vcls.map((vcl) => [vcl.name, vcl]))
  const active = findActive(desired, failed, inventory)
  const keptLabels = desired.labels
    .filter((label) => failed.has(label.label) || failed.has(label.program))
    .flatMap((label) => keepLabel(label, failed, loaded))
  if (active !== desired.active && !keptLabels.some(({ label }) => label === active))
    keptLabels.push(...asLabel(loaded.get(active)))
  const isSettable = (label: DesiredLabel) => !failed.has(label.label) && !failed.has(label.program)
  const load = desired.load.filter((program) => !failed.has(program.name))
  const keptPrograms = [active, ...keptLabels.map((label) => label.program)].filter(
    (name, index, all) =>
      name !== idleVclName &&
      all.indexOf(name) === index &&
      loaded.get(name)?.labelOf === null &&
      !load.some((program) => program.name === name),
  )
  return {
    desired: {
      // Kept programs are already loaded: no step reads their hash.
      load: [...load, ...keptPrograms.map((name) => ({ name, sha: idleVclSha }))],
      labels: [...desired.labels.filter(isSettable), ...keptLabels],
      active,
    },
    kept: [...keptPrograms, ...keptLabels.map((label) => label.label)],
  }
}

/** A cache that serves nothing gets the idle VCL, because a 503 explains more than a closed port. */
function findActive(
  desired: DesiredEngine,
  failed: ReadonlySet<string>,
  inventory: EngineInventory,
): string {
  if (!failed.has(desired.active)) return desired.active
  return inventory.vcls.find((vcl) => vcl.active)?.name ?? idleVclName
}

/**
 * An existing label stays unchanged. A new label whose VCL does not load points to the idle VCL, because the
 * routing VCL needs it and other groups of the cache may switch with it.
 */
function keepLabel(
  { label }: DesiredLabel,
  failed: ReadonlySet<string>,
  loaded: ReadonlyMap<string, LoadedVcl>,
): DesiredLabel[] {
  const there = loaded.get(label)
  if (there === undefined && !failed.has(label)) return [{ label, program: idleVclName }]
  return asLabel(there)
}

function asLabel(vcl: LoadedVcl | undefined): DesiredLabel[] {
  return vcl?.labelOf ? [{ label: vcl.name, program: vcl.labelOf }] : []
}

/** Returns the desired state without VCL that would only be loaded beside it; null when the right VCL is active. */
export function findUrgent(
  desired: DesiredEngine,
  inventory: EngineInventory,
): DesiredEngine | null {
  if (inventory.vcls.some((vcl) => vcl.active && vcl.name === desired.active)) return null
  const serving = findServing(desired)
  const there = new Set(inventory.vcls.map((vcl) => vcl.name))
  const isUrgent = (name: string) =>
    there.has(name) || serving.load.some((program) => program.name === name)
  const load = desired.load.filter((program) => isUrgent(program.name))
  return load.length === desired.load.length ? null : { ...desired, load }
}

/** Drops steps that were tried and failed: VCLs that cannot be saved, and names that the cache does not discard. */
export function leaveStuck(
  steps: readonly VclStep[],
  stuck: ReadonlySet<string>,
): readonly VclStep[] {
  if (stuck.size === 0) return steps
  return steps.flatMap((step): VclStep[] => {
    if (step.do === 'save') return stuck.has(step.name) ? [] : [step]
    if (step.do !== 'discard') return [step]
    const names = step.names.filter((name) => !stuck.has(name))
    return names.length > 0 ? [{ do: 'discard', names }] : []
  })
}
