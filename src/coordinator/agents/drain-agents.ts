/**
 * Drains an agent before maintenance of its host: placement moves its groups to other agents that fit, and places no new ones
 * on it (docs/behaviour.md, Drain).
 */
import { FleetError } from '../../errors.js'
import type { drain } from '../../resources/draining.js'
import type { Actor } from '../../resources/permission.js'
import type { GivenBody } from '../api/resource-schemas.js'
import { placementInputsSubject } from '../bus/subjects.js'
import type { DrainRecord } from '../fleet/agent-queries.js'
import { writeDrain } from '../fleet/drain-queries.js'
import type { StateService } from '../service.js'
import { notifyAgentsDrained } from './agent-hints.js'
import { findAgent, type AgentRecord } from './agents.js'

/** An agent that is already drained keeps its start time. Throws 'invalid' for an end in the past. */
export async function drainAgent(
  service: StateService,
  actor: Actor,
  agent: AgentRecord,
  { reason, until: untilSeconds }: GivenBody<typeof drain>,
): Promise<AgentRecord> {
  const now = service.now()
  const until = typeof untilSeconds === 'number' ? untilSeconds * 1000 : null
  if (until !== null && until <= now)
    throw new FleetError(
      'invalid',
      'agent',
      `until: ${untilSeconds} is over; it is seconds since 1970 and must be in the future`,
    )
  const since = agent.draining?.since ?? now
  return write(service, actor, agent, { since, until, reason, account: actor.accountName })
}

export async function undrainAgent(
  service: StateService,
  actor: Actor,
  agent: AgentRecord,
): Promise<AgentRecord> {
  return agent.draining === null ? agent : write(service, actor, agent, null)
}

async function write(
  service: StateService,
  actor: Actor,
  agent: AgentRecord,
  drain: DrainRecord | null,
): Promise<AgentRecord> {
  await writeDrain(service.store.queries, agent.id, drain)
  service.bus.publish(placementInputsSubject, {})
  notifyAgentsDrained(service, [agent.id], drain !== null)
  return (await findAgent(service, actor, agent.id)) ?? agent
}
