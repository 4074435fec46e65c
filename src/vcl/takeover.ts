/** How an agent takes over a cache that served other VCL before (docs/behaviour.md, Takeover). Pure. */
import { Type } from 'typebox'
import type { Fitting } from '../resources/json-fields.js'
import { idleVclName, type DesiredEngine } from './desired-engine.js'
import type { EngineInventory } from './engine-inventory.js'
import type { VclStep } from './plan.js'

/** When the previous VCL is replaced: at registration, at the first deploy, or never, because it is adopted as a group. */
export const takeover = Type.Enum(['registration', 'first-deploy', 'adopt'])
export type Takeover = Fitting<typeof takeover>

/**
 * True while the previous VCL still serves: the agent waits for its first deploy, or that deploy's VCL is being loaded. The idle VCL never
 * serves in between.
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
 * Keeps the steps of a plan that do not affect unmanaged VCL: candidates are loaded beside it and discarded again. Labels of managed VCL
 * serve nothing yet; a candidate's routing VCL needs them, and the idle VCL to which they may refer.
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
    // If nothing serves, there is nothing to wait for: the idle VCL may respond, and groups can be placed.
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
