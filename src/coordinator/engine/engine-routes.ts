/** `/agents/{id}/…`: the contents of an agent's cache, queried from the agent, and the commands that users may send. */
import { Type, type TSchema } from 'typebox'
import type { Context } from '../../context.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { route, type Route } from '../http/route.js'
import { askAgent, askAgentFor, sendCommand } from './agent-questions.js'
import { findAgent, findOwnAgent, type AgentRecord } from '../agents/agents.js'
import { requireTaken, setBackendHealth, setParameter } from './engine-settings.js'
import type { StateService } from '../service.js'
import { orNull } from '../api/references.js'

const errorKey = 'agent'
const read = { type: 'agent', access: 'read' } as const
const write = { type: 'agent', access: 'write' } as const
const closed = { additionalProperties: false }

/** Open schema: an agent that is one minor version newer may send more fields. */
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

const healthSchema = Type.Object(
  {
    name: Type.String(),
    health: Type.Enum(['healthy', 'sick', 'auto']),
    backends: Type.Array(Type.String({ description: 'What was set: <VCL>.<backend>' })),
  },
  closed,
)

interface Question {
  readonly query: 'vcls' | 'params' | 'backends' | 'bans' | 'panic'
  readonly operationId: string
  readonly summary: string
  readonly answer: TSchema
  /** Converts the visible part of the agent's answer to the response body; default: unchanged. */
  readonly view?: (value: unknown) => unknown
}

export function agentEngineRoutes(service: StateService): readonly Route[] {
  const questions: readonly Question[] = [
    {
      query: 'vcls',
      operationId: 'listAgentVcls',
      summary: 'VCLs and labels that the cache holds',
      answer: Type.Array(vclSchema),
    },
    {
      query: 'params',
      operationId: 'listAgentParams',
      summary: "The cache's parameters by name",
      answer: Type.Record(Type.String(), parameterSchema),
    },
    {
      query: 'backends',
      operationId: 'listAgentBackends',
      summary: 'Backends with their health',
      answer: Type.Array(Type.Object(namedRow)),
    },
    {
      query: 'bans',
      operationId: 'listAgentBans',
      summary: 'Bans that the cache still has to apply; of a shared agent its owner sees them',
      answer: Type.Array(Type.Object({})),
    },
    {
      query: 'panic',
      operationId: 'getAgentPanic',
      summary: "The last panic of the cache's child; null when there was none",
      answer: Type.Object({ panic: orNull(Type.String()) }, closed),
      view: (panic) => ({ panic }),
    },
  ]
  return [...questions.map((question) => questionRoute(service, question)), ...changes(service)]
}

function questionRoute(service: StateService, question: Question): Route {
  const { query, operationId, summary, answer, view = (value: unknown) => value } = question
  return route({
    method: 'GET',
    path: `/agents/{id}/${query}`,
    operationId,
    summary,
    errorKey,
    permission: read,
    find: (_, actor, id) => findAgent(service, actor, id),
    answers: { 200: answer },
    handle: async ({ context, actor, object: agent }) => {
      const value = await askAgentFor(service, context, { actor, agent }, { query })
      return { status: 200, body: view(value) }
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
      summary:
        "Sends one of the allowed commands; those that set something are kept like the calls that do; answers the engine's words",
      errorKey,
      permission: { type: 'command', access: 'write' },
      find: findChangeable,
      body: Type.Object(
        { command: Type.String({ description: 'One line of the management port' }) },
        closed,
      ),
      answers: { 200: Type.Object({ message: Type.String() }, closed) },
      handle: async ({ context, actor, object: agent, body }) => ({
        status: 200,
        body: { message: await sendCommand(service, context, { actor, agent }, body.command) },
      }),
    }),
    route({
      method: 'PUT',
      path: '/agents/{id}/params/{name}',
      operationId: 'setAgentParam',
      summary: 'Sets a parameter of the cache, and keeps it set; null: back to its default',
      errorKey,
      permission: write,
      find: findChangeable,
      body: Type.Object(
        { value: Type.Optional(orNull(Type.String({ description: 'As on the management port' }))) },
        closed,
      ),
      ignoredKeys: ['name', 'default', 'unit', 'description'],
      answers: { 200: parameterSchema },
      handle: async ({ context, object, params, body }) => ({
        status: 200,
        body: await changeParam(service, context, object, {
          name: params['name'] ?? '',
          value: body.value,
        }),
      }),
    }),
    route({
      method: 'PUT',
      path: '/agents/{id}/backends/{name}/{health}',
      operationId: 'setAgentBackend',
      summary:
        'Sets the health of the backends of a name in all VCLs, or of <group id>.<name>, and keeps it set: healthy, sick, auto',
      errorKey,
      permission: write,
      find: findChangeable,
      answers: { 200: healthSchema },
      handle: async ({ context, actor, object: agent, params }) => {
        const { name = '', health = '' } = params
        const caller = { actor, agent }
        const answer = await setBackendHealth(service, context, caller, { name, health })
        return { status: 200, body: requireTaken(answer, name) }
      },
    }),
  ]
}

/** An undefined value changes nothing (docs/behaviour.md, Updates). */
async function changeParam(
  service: StateService,
  context: Context,
  agent: AgentRecord,
  { name, value }: { readonly name: string; readonly value: string | null | undefined },
): Promise<unknown> {
  if (value !== undefined)
    return requireTaken(await setParameter(service, context, agent, { name, value }), name)
      .parameter
  const parameters = await askAgent(service, context, agent, { query: 'params' })
  const found = new Map(Object.entries(parameters)).get(name)
  if (found === undefined) throw new FleetError('not-found', errorKey, `${name} was not found`)
  return found
}
