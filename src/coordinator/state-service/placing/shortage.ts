/** Too few agents for a deployment, in words (choices: 3, Placement: 409 when conflicting agents would do, else 503). */
import type { PlacementDecision } from '../../../domain/placement.js'
import type { DeploymentRecord } from '../../../store/deployments.js'

export interface Shortage {
  readonly kind: 'conflict' | 'unavailable'
  readonly message: string
}

/** Undefined when every deployment reaches its min. */
export function describeShortages(
  decision: PlacementDecision,
  deployments: readonly Pick<DeploymentRecord, 'id' | 'name'>[],
): Shortage | undefined {
  if (deployments.length === 0) return { kind: 'conflict', message: noDeployments }
  if (decision.shortages.length === 0) return undefined
  const names = new Map(deployments.map(({ id, name }) => [id, name]))
  const conflict = decision.shortages.some((shortage) => shortage.wouldReachWithConflicting)
  const texts = decision.shortages.map(
    ({ deploymentId, min, placed, wouldReachWithConflicting }) => {
      const name = JSON.stringify(names.get(deploymentId) ?? String(deploymentId))
      const reason = wouldReachWithConflicting ? '; other groups hold the agents it would need' : ''
      return `deployment ${name} needs ${min} running agents with all of its tags, ${placed} can be used${reason}`
    },
  )
  return { kind: conflict ? 'conflict' : 'unavailable', message: texts.join('. ') }
}

/** Chosen by us: nobody can come late for it, so there is no wish to keep, and a deploy to nowhere is no success. */
const noDeployments = 'the group has no deployments; give it one, and it is placed by its tags'
