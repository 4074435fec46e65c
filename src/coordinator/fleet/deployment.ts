/**
 * The six states that the API shows of deployments and groups (choices: 2 and 3).
 *
 * Active: every placed agent applied and each deployment has its min. Degraded: min, but a placed agent failed or is
 * Down. Error: under min. Orphan: deployed, and no agent fits. Inactive: not deployed. Deploying: on its way.
 */

export const deploymentStates = {
  Active: 1,
  Inactive: 2,
  Degraded: 3,
  Error: 4,
  Orphan: 5,
  Deploying: 6,
} as const

type DeploymentStateName = keyof typeof deploymentStates
export type DeploymentState = (typeof deploymentStates)[DeploymentStateName]

export function deploymentStateName(state: DeploymentState): DeploymentStateName {
  const found = Object.entries(deploymentStates).find(([, number]) => number === state)
  return (found?.[0] ?? 'Inactive') as DeploymentStateName // every DeploymentState is in the table
}

const { Active, Inactive, Degraded, Error, Orphan, Deploying } = deploymentStates
const bestFirst: readonly DeploymentState[] = [Inactive, Active, Deploying, Degraded, Orphan, Error]

/**
 * The state of a deployment that groups share: the worst of what it is in each of them (choices: 3); Inactive without any.
 * Chosen by us: the order from best to worst is Inactive, Active, Deploying, Degraded, Orphan, Error.
 */
export function worstState(states: readonly DeploymentState[]): DeploymentState {
  return states.reduce<DeploymentState>(
    (worst, state) => (bestFirst.indexOf(state) > bestFirst.indexOf(worst) ? state : worst),
    Inactive,
  )
}
