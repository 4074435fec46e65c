/** The state that the API shows for a deployment, derived from its states in the groups that share it. */
import { deploymentStates } from '../../resources/deployment.js'

type DeploymentStateName = keyof typeof deploymentStates
export type DeploymentState = (typeof deploymentStates)[DeploymentStateName]

export function deploymentStateName(state: DeploymentState): DeploymentStateName {
  const found = Object.entries(deploymentStates).find(([, number]) => number === state)
  return (found?.[0] ?? 'Inactive') as DeploymentStateName // every DeploymentState is in the table
}

const { Active, Inactive, Degraded, Error, Orphan, Deploying } = deploymentStates
const bestFirst: readonly DeploymentState[] = [Inactive, Active, Deploying, Degraded, Orphan, Error]

/** Returns the worst of these states; Inactive if there are none. */
export function worstState(states: readonly DeploymentState[]): DeploymentState {
  return states.reduce<DeploymentState>(
    (worst, state) => (bestFirst.indexOf(state) > bestFirst.indexOf(worst) ? state : worst),
    Inactive,
  )
}
