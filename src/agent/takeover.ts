/** How an agent takes over a cache that served something else before (choices: 1, --takeover; 3, Takeover). Pure. */
import { idleVclName, type DesiredEngine } from '../domain/desired-engine.js'
import type { EngineInventory } from '../domain/engine-inventory.js'
import type { VclStep } from '../domain/vcl-plan.js'

/** `adopt` is known to the specification of flags, and refused until it is built. */
export type Takeover = 'registration' | 'first-deploy'

/** Whether what served before still serves: the first deploy of an agent that waits for one is still to come. */
export function isHeldForFirstDeploy(
  takeover: Takeover,
  takenOver: boolean,
  desired: DesiredEngine,
): boolean {
  return takeover === 'first-deploy' && !takenOver && desired.active === idleVclName
}

/** Of a plan only what does not touch foreign VCL: candidates are loaded beside it, and unloaded again. */
export function holdForeign(
  steps: readonly VclStep[],
  inventory: EngineInventory,
  ours: ReadonlySet<string>,
): readonly VclStep[] {
  const taken = new Set(inventory.vcls.map((vcl) => vcl.name))
  return steps.flatMap((step): VclStep[] => {
    if (step.do === 'load') return step.name === idleVclName || taken.has(step.name) ? [] : [step]
    if (step.do !== 'discard') return []
    const active = inventory.vcls.find((vcl) => vcl.active)?.name
    const names = step.names.filter((name) => ours.has(name) && name !== active)
    return names.length > 0 ? [{ do: 'discard', names }] : []
  })
}
