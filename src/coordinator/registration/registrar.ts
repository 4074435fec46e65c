/** Enrols new agents that send hello within a few milliseconds in one transaction, so that a starting fleet waits for few commits. */
import type { Context } from '../../context.js'
import { FleetError } from '../../errors.js'
import type { AgentDescription } from '../../messages/agent-to-coordinator.js'
import { gatherCalls } from '../../runtime/gathered-calls.js'
import { notifyAgentsChanged } from '../agents/agent-hints.js'
import type { StateService } from '../service.js'
import type { JoiningAgent } from './agent-credentials.js'
import type { RegisteredAgent } from './described-agent.js'
import { enrolAgents, type Enrolling } from './enrol-agents.js'
import { checkHello, registerAgent } from './registration.js'

export interface Registrar {
  /** As `registerAgent`. */
  register(
    context: Context,
    joining: JoiningAgent,
    hello: AgentDescription,
  ): Promise<RegisteredAgent>
}

/** How long a hello waits for others. */
const gatherMs = 5
/** Agents per transaction. */
const maxEnrolled = 256

export function createRegistrar(service: StateService): Registrar {
  const enrol = gatherCalls<Enrolling, RegisteredAgent>({
    waitMs: gatherMs,
    most: maxEnrolled,
    carryOut: (enrolling) => enrolTogether(service, enrolling),
  })
  return {
    register: async (context, joining, hello) => {
      checkHello(joining, hello)
      if (joining.takesOver !== null) return registerAgent(service, context, joining, hello)
      try {
        return await enrol({ joining, hello })
      } catch (error) {
        // An unavailable store is not queried again for each agent; the agents retry.
        if (error instanceof FleetError && error.kind === 'unavailable') throw error
        // This agent or another one of the set was refused: enrol each separately, so that only that one is.
        return registerAgent(service, context, joining, hello)
      }
    },
  }
}

async function enrolTogether(
  service: StateService,
  enrolling: readonly Enrolling[],
): Promise<readonly RegisteredAgent[]> {
  const enrolled = await service.store.transaction((queries) =>
    enrolAgents(service, queries, enrolling),
  )
  notifyAgentsChanged(
    service,
    enrolled.map(({ agentId }) => agentId),
  )
  return enrolled
}
