/** How an agent takes over a cache that served something else before (docs/behaviour.md, Takeover). Pure. */
import { Type } from 'typebox'
import type { Fitting } from '../resources/json-fields.js'
import { idleVclName, type DesiredEngine } from './desired-engine.js'
import type { EngineInventory } from './engine-inventory.js'
import type { VclStep } from './plan.js'

/** When what a cache served before gives way: at once, at the first deploy, or never, because it is made a group itself. */
export const takeover = Type.Enum(['registration', 'first-deploy', 'adopt'])
export type Takeover = Fitting<typeof takeover>

/**
 * Whether what served before still serves: the first deploy of an agent that waits for one is still to come, or its VCL is
 * being loaded; the idle VCL never serves between the two.
 */
export function isHeldForFirstDeploy(
  takeover: Takeover,
  takenOver: boolean,
  desired: DesiredEngine,
): boolean {
  const isComing = takeover !== 'registration' || desired.load.length > 0
  return isComing && !takenOver && desired.active === idleVclName
}

/**
 * Of a plan only what does not touch unmanaged VCL: candidates are loaded beside it, and unloaded again. Labels of managed serve
 * nothing yet, and the routing VCL of a candidate needs them, and the idle VCL that they stand for.
 */
export function leaveUnmanaged(
  steps: readonly VclStep[],
  inventory: EngineInventory,
  managed: ReadonlySet<string>,
): readonly VclStep[] {
  const taken = new Set(inventory.vcls.map((vcl) => vcl.name))
  const active = inventory.vcls.find((vcl) => vcl.active)?.name
  const needsIdle =
    active === undefined ||
    steps.some((step) => step.do === 'label' && step.program === idleVclName)
  return steps.flatMap((step): VclStep[] => {
    if (step.do === 'load') {
      const isIdle = step.name === idleVclName && !needsIdle
      return isIdle || taken.has(step.name) ? [] : [step]
    }
    if (step.do === 'label') return taken.has(step.label) && !managed.has(step.label) ? [] : [step]
    if (step.do === 'discard') return discardManaged(step.names, managed, active)
    // Where nothing serves there is nothing to wait for: the idle VCL answers, and groups can be placed.
    return active === undefined && step.do !== 'save' ? [step] : []
  })
}

function discardManaged(
  names: readonly string[],
  managed: ReadonlySet<string>,
  active: string | undefined,
): VclStep[] {
  const going = names.filter((name) => managed.has(name) && name !== active)
  return going.length > 0 ? [{ do: 'discard', names: going }] : []
}
