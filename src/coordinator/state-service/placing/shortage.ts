/** Too few agents for a deployment, in words (choices: 3, Placement: 409 when conflicting agents would do, else 503). */
import type { PlacementDecision } from '../../../domain/placement.js'
import type { DeploymentRecord } from '../../../store/deployments.js'

export interface Shortage {
  readonly kind: 'conflict' | 'unavailable'
  readonly message: string
}

/** The hidden one of a group of the console has its caches named one by one. */
type NamedDeployment = Pick<DeploymentRecord, 'id' | 'name'> &
  Partial<Pick<DeploymentRecord, 'groupId'>>

/** Undefined when every deployment reaches its min. */
export function describeShortages(
  decision: PlacementDecision,
  deployments: readonly NamedDeployment[],
): Shortage | undefined {
  if (deployments.length === 0) return { kind: 'conflict', message: noDeployments }
  if (decision.shortages.length === 0) return undefined
  const conflict = decision.shortages.some((shortage) => shortage.wouldReachWithConflicting)
  const texts = decision.shortages.map(
    ({ deploymentId, min, placed, wouldReachWithConflicting }) => {
      const deployment = deployments.find(({ id }) => id === deploymentId)
      const reason = wouldReachWithConflicting ? '; other groups hold the agents it would need' : ''
      if (typeof deployment?.groupId === 'number')
        return `the group needs ${min} running cache, ${placed} of its caches can be used${reason}`
      const name = JSON.stringify(deployment?.name ?? String(deploymentId))
      return `deployment ${name} needs ${min} running agents with all of its tags, ${placed} can be used${reason}`
    },
  )
  return { kind: conflict ? 'conflict' : 'unavailable', message: texts.join('. ') }
}

/** Chosen by us: nobody can come late for it, so there is no wish to keep, and a deploy to nowhere is no success. */
const noDeployments = 'the group has no deployments; give it one, and it is placed by its tags'
