/** `/agents`: the agents and their tags. The contents of their caches: engine/engine-routes.ts. */
import { Type } from 'typebox'
import { agent } from '../../resources/agent.js'
import type { Actor } from '../../resources/permission.js'
import { readOnlyNames } from '../../resources/resource.js'
import { answerList, route, type Route } from '../http/route.js'
import { deleteAgent } from './agent-removal.js'
import {
  agentListFields,
  findAgent,
  findOwnAgent,
  listAgents,
  ownsAgent,
  updateAgent,
  type AgentRecord,
} from './agents.js'
import { mapRows } from '../store/long-list.js'
import type { StateService } from '../service.js'
import { editing } from '../api/editing.js'
import { forceQuery, listQuerySchema, requireAccess } from '../api/references.js'
import { editKeys, updateBody } from '../api/resource-schemas.js'
import { showAgent, unlockRoutes } from './unlock-routes.js'
import { agentSchema, recallAgentView, toAgentView } from './agent-view.js'

const errorKey = 'agent'
const read = { type: 'agent', access: 'read' } as const
const write = { type: 'agent', access: 'write' } as const

export function agentRoutes(service: StateService): readonly Route[] {
  const findReadable = (_: unknown, actor: Actor, id: number) => findAgent(service, actor, id)
  const findChangeable = (_: unknown, actor: Actor, id: number) => findOwnAgent(service, actor, id)
  const edit = editing(service, {
    keys: editKeys(agent.fields),
    find: findAgent,
    view: (record: AgentRecord) => toAgentView(record, true),
  })
  return [
    route({
      method: 'GET',
      path: '/agents',
      operationId: 'listAgents',
      summary: 'Agents that you may see: your own and the shared ones',
      errorKey,
      permission: read,
      query: listQuerySchema(agentListFields),
      answers: { 200: Type.Array(agentSchema) },
      handle: async ({ actor, query }) => {
        const found = await listAgents(service, actor, query)
        return answerList(
          mapRows(found, (record) => view(actor, record)),
          found.total,
        )
      },
    }),
    route({
      method: 'GET',
      path: '/agents/{id}',
      operationId: 'getAgent',
      summary: 'One agent',
      errorKey,
      permission: read,
      edit,
      find: findReadable,
      answers: { 200: agentSchema },
      handle: async ({ actor, object }) => ({
        status: 200,
        body: await showAgent(service, actor, object),
      }),
    }),
    route({
      method: 'PUT',
      path: '/agents/{id}',
      operationId: 'updateAgent',
      summary: 'Replaces the assigned tags; static ones stay and may be listed or left out',
      errorKey,
      permission: write,
      edit,
      find: findChangeable,
      query: forceQuery('also when a deployed group falls below its min by this'),
      body: updateBody(agent.fields),
      ignoredKeys: readOnlyNames(agent.fields),
      answers: { 200: agentSchema },
      handle: async ({ actor, object, body, query, guarded }) => {
        if (body.tags !== undefined) requireAccess(actor, 'tag', 'read', errorKey)
        const change = { body, force: query.force ?? false }
        const changed = await updateAgent(guarded, actor, object, change)
        return { status: 200, body: await showAgent(service, actor, changed) }
      },
    }),
    route({
      method: 'DELETE',
      path: '/agents/{id}',
      operationId: 'deleteAgent',
      summary: 'Deletes an agent and revokes its key; 409 while a group is placed on it',
      errorKey,
      permission: write,
      edit,
      find: findChangeable,
      query: forceQuery('also while a group is placed on it'),
      answers: { 204: null },
      handle: async ({ object, query, guarded }) => {
        await deleteAgent(guarded, object, { force: query.force ?? false })
        return { status: 204 }
      },
    }),
    ...unlockRoutes(service),
  ]
}

function view(actor: Actor, record: AgentRecord) {
  return recallAgentView(record, ownsAgent(actor, record))
}
