/** The message for too few agents (docs/behaviour.md, Placement: 409 if the conflicting agents would suffice, else 503). */
import { agentStateName } from '../../resources/agent-state.js'
import type { PlacementDecision } from './placement.js'
import type { Shortage as PlacementShortage } from './placement-shortage.js'
import type { NamedDeployment } from '../fleet/target-queries.js'

export interface Shortage {
  readonly kind: 'conflict' | 'unavailable'
  readonly message: string
}

/** The names that the reader of the message may see. */
interface ShortageNames {
  readonly agents: Iterable<{ readonly id: number; readonly name: string }>
  /** A group or a stage, by `holderId`; undefined: it belongs to another owner. */
  readonly nameOf?: ((holder: number) => string | undefined) | undefined
}

/** The maximum number of agents named in a message. */
const agentsNamed = 10

/** Returns undefined if every deployment reaches its min. */
export function describeShortages(
  decision: PlacementDecision,
  deployments: readonly Pick<NamedDeployment, 'id' | 'name'>[],
  names: ShortageNames,
): Shortage | undefined {
  if (deployments.length === 0) return { kind: 'conflict', message: noDeployments }
  if (decision.shortages.length === 0) return undefined
  const isConflict = decision.shortages.some((shortage) => shortage.wouldSufficeWithConflicting)
  const agents = new Map([...names.agents].map(({ id, name }) => [id, name]))
  const texts = decision.shortages.map((shortage) => {
    const { deploymentId, min, placed, wouldSufficeWithConflicting } = shortage
    const deployment = deployments.find(({ id }) => id === deploymentId)
    const held = describeHeld(shortage, agents, names)
    const isOfMembers = deployment?.name === null
    const why = wouldSufficeWithConflicting
      ? `; other groups hold the agents it would need: ${held}`
      : `: ${describeFitting(shortage, held, isOfMembers)}`
    if (isOfMembers)
      return `the group needs ${min} running ${min === 1 ? 'cache' : 'caches'}, ${placed} of its caches can be used${why}`
    const name = JSON.stringify(deployment?.name ?? String(deploymentId))
    return `deployment ${name} needs ${min} running ${min === 1 ? 'agent' : 'agents'} with all of its tags, ${placed} can be used${why}`
  })
  return { kind: isConflict ? 'conflict' : 'unavailable', message: texts.join('. ') }
}

/** `20 have its tags, 12 are Locked, 5 Down, 3 cannot be used: …`; of a group's own caches: `it has 20, …` */
function describeFitting(
  { fitting, states, conflicts }: PlacementShortage,
  held: string,
  isOfMembers: boolean,
): string {
  if (fitting === 0) return isOfMembers ? 'it has none' : 'no agent has them'
  const parts = states.map(
    ({ state, count }, index) =>
      `${count} ${index > 0 ? '' : count === 1 ? 'is ' : 'are '}${agentStateName(state)}`,
  )
  if (conflicts.length > 0) parts.push(`${conflicts.length} cannot be used: ${held}`)
  const all = isOfMembers
    ? `it has ${fitting}`
    : `${fitting} ${fitting === 1 ? 'has' : 'have'} its tags`
  return [all, ...parts].join(', ')
}

function describeHeld(
  { conflicts }: PlacementShortage,
  agents: ReadonlyMap<number, string>,
  { nameOf }: ShortageNames,
): string {
  const shown = conflicts.slice(0, agentsNamed).map(({ agentId, holder, reason }) => {
    const agent = `agent ${JSON.stringify(agents.get(agentId) ?? String(agentId))}`
    if (holder === null) return `${agent}: ${reason}`
    const name = nameOf?.(holder)
    if (name === undefined) return `another group holds ${agent}`
    return `${holder < 0 ? 'the stage of ' : ''}group ${JSON.stringify(name)} holds ${agent}`
  })
  const more = conflicts.length - shown.length
  return `${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`
}

/** No agent can ever match, so no pending deploy is kept, and a deploy to no agent is not a success. */
const noDeployments = 'the group has no deployments; add one to place it by tags'
