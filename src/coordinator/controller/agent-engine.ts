/** `/agents/{id}/…`: what an agent's cache holds, asked of the agent itself, and the commands that people may send. */
import { Type, type TSchema } from 'typebox'
import type { Actor } from '../../domain/permission.js'
import { FleetError } from '../../errors.js'
import { route, type Route } from '../http/route.js'
import {
  askAgent,
  keepVisible,
  sendCommand,
  setBackendHealth,
  setParameter,
} from '../state-service/agent-questions.js'
import { findAgent, findOwnAgent, ownsAgent, type AgentRecord } from '../state-service/agents.js'
import type { StateService } from '../state-service/service.js'
import { orNull } from './references.js'

const errorKey = 'agent'
const read = { type: 'agent', access: 'read' } as const
const write = { type: 'agent', access: 'write' } as const
const closed = { additionalProperties: false }

/** Open: an agent one minor version newer may tell more. */
const namedRow = { name: Type.String() }
const vclSchema = Type.Object({
  ...namedRow,
  state: Type.String(),
  busy: orNull(Type.Integer()),
  label: orNull(Type.String({ description: 'The VCL that a label stands for' })),
})
const parameterSchema = Type.Object({
  value: Type.String(),
  default: Type.String(),
  unit: Type.String(),
  description: Type.String(),
})

interface Question {
  readonly query: 'vcls' | 'params' | 'backends' | 'bans' | 'panic'
  readonly operationId: string
  readonly summary: string
  readonly answer: TSchema
  /** From the agent's answer to what this caller may see of it. */
  readonly show: (value: unknown, actor: Actor, agent: AgentRecord) => unknown
}

export function agentEngineRoutes(service: StateService): readonly Route[] {
  const showRows = (value: unknown, actor: Actor, agent: AgentRecord) =>
    keepVisible(service, actor, agent, namedRows(value))
  const questions: readonly Question[] = [
    {
      query: 'vcls',
      operationId: 'listAgentVcls',
      summary: 'VCLs and labels that the cache holds',
      answer: Type.Array(vclSchema),
      show: showRows,
    },
    {
      query: 'params',
      operationId: 'listAgentParams',
      summary: "The cache's parameters by name",
      answer: Type.Record(Type.String(), parameterSchema),
      show: (value) => value,
    },
    {
      query: 'backends',
      operationId: 'listAgentBackends',
      summary: 'Backends with their health',
      answer: Type.Array(Type.Object(namedRow)),
      show: showRows,
    },
    {
      query: 'bans',
      operationId: 'listAgentBans',
      summary: 'Bans that the cache still has to apply; of a shared agent its owner sees them',
      answer: Type.Array(Type.Object({})),
      show: (value, actor, agent) => (ownsAgent(actor, agent) ? value : []),
    },
    {
      query: 'panic',
      operationId: 'getAgentPanic',
      summary: "The last panic of the cache's child; null when there was none",
      answer: Type.Object({ panic: orNull(Type.String()) }, closed),
      show: (value, actor, agent) => ({ panic: ownsAgent(actor, agent) ? value : null }),
    },
  ]
  return [...questions.map((question) => questionRoute(service, question)), ...changes(service)]
}

function questionRoute(service: StateService, question: Question): Route {
  const { query, operationId, summary, answer, show } = question
  return route({
    method: 'GET',
    path: `/agents/{id}/${query}`,
    operationId,
    summary,
    errorKey,
    permission: read,
    find: (_, actor, id) => findAgent(service, actor, id),
    answers: { 200: answer },
    handle: async ({ context, actor, object }) => {
      const value = await askAgent(service, context, object, query)
      return { status: 200, body: await show(value, actor, object) }
    },
  })
}

function changes(service: StateService): readonly Route[] {
  const findChangeable = (_: unknown, actor: Actor, id: number) => findOwnAgent(service, actor, id)
  return [
    route({
      method: 'POST',
      path: '/agents/{id}/command',
      operationId: 'sendAgentCommand',
      summary: "Sends one of the allowed reading commands; answers the engine's words",
      errorKey,
      permission: { type: 'command', access: 'write' },
      find: findChangeable,
      body: Type.Object(
        { command: Type.String({ description: 'One line of the management port' }) },
        closed,
      ),
      answers: { 200: Type.Object({ message: Type.String() }, closed) },
      handle: async ({ context, object, body }) => ({
        status: 200,
        body: { message: await sendCommand(service, context, object, body.command) },
      }),
    }),
    route({
      method: 'PUT',
      path: '/agents/{id}/params/{name}',
      operationId: 'setAgentParam',
      summary: 'Sets a parameter of the cache (not in this release: 503)',
      errorKey,
      permission: write,
      find: findChangeable,
      body: Type.Object({ value: Type.String() }, closed),
      ignoredKeys: ['name', 'default', 'unit', 'description'],
      answers: { 200: parameterSchema },
      handle: ({ object, params }) => new Promise(() => setParameter(object, params['name'] ?? '')),
    }),
    route({
      method: 'PUT',
      path: '/agents/{id}/backends/{name}/{health}',
      operationId: 'setAgentBackend',
      summary: 'Sets the health of a backend: healthy, sick or auto (not in this release: 503)',
      errorKey,
      permission: write,
      find: findChangeable,
      answers: { 200: Type.Object(namedRow) },
      handle: ({ object, params }) => setBackendHealth(object, params['health'] ?? ''),
    }),
  ]
}

function namedRows(value: unknown): readonly { readonly name: string }[] {
  if (!Array.isArray(value) || !value.every(isNamed))
    throw new FleetError('unavailable', errorKey, 'the agent answered in a form that is not known')
  return value
}

function isNamed(row: unknown): row is { readonly name: string } {
  return typeof row === 'object' && row !== null && 'name' in row && typeof row.name === 'string'
}
