/** `/agents/{id}/drain` and `/undrain`: maintenance of a host; `/replace`: replacement of a lost host. */
import { drain } from '../../resources/draining.js'
import type { Actor } from '../../resources/permission.js'
import { Type } from 'typebox'
import { agent } from '../../resources/agent.js'
import { fieldNames } from '../../resources/resource.js'
import { referenceTo } from '../api/references.js'
import { givenBody } from '../api/resource-schemas.js'
import { route, type Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { agentSchema } from './agent-view.js'
import { findOwnAgent } from './agents.js'
import { drainAgent, undrainAgent } from './drain-agents.js'
import { replaceByAgent } from './replace-agent.js'
import { showAgent } from './unlock-routes.js'

const errorKey = 'agent'
const permission = { type: 'agent', access: 'write' } as const

export function maintenanceRoutes(service: StateService): readonly Route[] {
  const find = (_: unknown, actor: Actor, id: number) => findOwnAgent(service, actor, id)
  return [
    route({
      method: 'PUT',
      path: '/agents/{id}/drain',
      operationId: 'drainAgent',
      summary:
        'Drains an agent; its groups move where other agents fit, and serve there before they go',
      errorKey,
      permission,
      find,
      body: givenBody(drain),
      answers: { 200: agentSchema },
      handle: async ({ actor, object, body }) => {
        const drained = await drainAgent(service, actor, object, body)
        return { status: 200, body: await showAgent(service, actor, drained) }
      },
    }),
    route({
      method: 'PUT',
      path: '/agents/{id}/undrain',
      operationId: 'undrainAgent',
      summary: 'Ends the drain of an agent; it gets groups again',
      errorKey,
      permission,
      find,
      answers: { 200: agentSchema },
      handle: async ({ actor, object }) => {
        const undrained = await undrainAgent(service, actor, object)
        return { status: 200, body: await showAgent(service, actor, undrained) }
      },
    }),
    route({
      method: 'PUT',
      path: '/agents/{id}/replace',
      operationId: 'replaceAgent',
      summary:
        'Gives the place of an agent that is Down to a new host; `by` is the agent there, which is forgotten',
      errorKey,
      permission,
      find,
      body: Type.Object(
        { by: referenceTo(fieldNames(agent.fields)) },
        { additionalProperties: false },
      ),
      answers: { 200: agentSchema },
      handle: async ({ actor, object, body }) => {
        const replaced = await replaceByAgent(service, actor, object, body.by.id)
        return { status: 200, body: await showAgent(service, actor, replaced) }
      },
    }),
  ]
}
