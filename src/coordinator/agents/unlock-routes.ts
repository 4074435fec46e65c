/** `/agents/{id}/unlock` and `/agents/unlock`: a locked agent accepts changes of this coordinator from now on. */
import { Type } from 'typebox'
import { agent } from '../../resources/agent.js'
import type { Actor } from '../../resources/permission.js'
import { fieldNames } from '../../resources/resource.js'
import { referenceSchema, referencesTo } from '../api/references.js'
import { route, type Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { agentSchema, recallAgentView, toAgentView } from './agent-view.js'
import { findOwnAgent, ownsAgent, type AgentRecord } from './agents.js'
import { noDetails, readAgentDetails, unlockAgent, unlockAgents } from './unlock-agents.js'

const errorKey = 'agent'
const closed = { additionalProperties: false }

const unlockedSchema = Type.Object(
  {
    unlocked: Type.Array(referenceSchema),
    skipped: Type.Array(
      Type.Object(
        { agent: referenceSchema, reason: Type.String({ description: 'Why it stays as it is' }) },
        closed,
      ),
    ),
  },
  closed,
)

export function unlockRoutes(service: StateService): readonly Route[] {
  return [
    route({
      method: 'PUT',
      path: '/agents/{id}/unlock',
      operationId: 'unlockAgent',
      summary: 'Unlocks a locked agent: it follows this coordinator from now on',
      errorKey,
      permission: { type: 'agent', access: 'write' },
      find: (_, actor, id) => findOwnAgent(service, actor, id),
      answers: { 200: agentSchema },
      handle: async ({ context, actor, object }) => {
        const unlocked = await unlockAgent(service, context, actor, object)
        return { status: 200, body: await showAgent(service, actor, unlocked) }
      },
    }),
    route({
      method: 'PUT',
      path: '/agents/unlock',
      operationId: 'unlockAgents',
      summary: 'Unlocks these agents, or all locked ones; says which it did not, and why',
      errorKey,
      permission: { type: 'agent', access: 'write' },
      body: Type.Object(
        {
          agents: Type.Optional(referencesTo(fieldNames(agent.fields))),
          all: Type.Optional(
            Type.Boolean({ description: 'Every locked agent that you own, in place of agents' }),
          ),
        },
        closed,
      ),
      answers: { 200: unlockedSchema },
      handle: async ({ context, actor, body }) => ({
        status: 200,
        body: await unlockAgents(service, context, actor, body),
      }),
    }),
  ]
}

/** Includes fields requested for a single agent only. */
export async function showAgent(service: StateService, actor: Actor, record: AgentRecord) {
  const details = await readAgentDetails(service, actor, record)
  const whole = ownsAgent(actor, record)
  return details === noDetails
    ? recallAgentView(record, whole)
    : toAgentView(record, whole, details)
}
