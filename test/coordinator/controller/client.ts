/** A client that calls the resources as the administrator, and agents enrolled without a link. */
import type { Test } from 'tap'
import { createContext } from '../../../src/context.js'
import { resourceRoutes } from '../../../src/coordinator/controller/resources.js'
import { registerAgent } from '../../../src/coordinator/registration/registration.js'
import type { AgentDescription } from '../../../src/messages/agent-to-coordinator.js'
import type { CallAnswer } from '../../support/http-call.js'
import { startController, type Controller } from '../../support/start-controller.js'
import { describe, digestOf, runningCondition } from '../gateway/link-agent.js'
import { makeToken } from '../gateway/service.js'
import { pino } from 'pino'

export type Json = Record<string, unknown>

export interface Client extends Controller {
  readonly token: string
  /** Paths are below /api/v1. */
  send(method: string, path: string, body?: unknown): Promise<CallAnswer>
  /** Fails the test on any other status. */
  expect(status: number, method: string, path: string, body?: unknown): Promise<Json>
  list(path: string): Promise<Json[]>
}

/** The default is a store in memory. */
export async function startClient(t: Test, storeUrl?: string): Promise<Client> {
  const controller = await startController(t, {
    resources: resourceRoutes,
    ...(storeUrl === undefined ? {} : { storeUrl }),
  })
  const token = await controller.login()
  const send: Client['send'] = (method, path, body) =>
    controller.call(method, `/api/v1${path}`, { token, ...(body === undefined ? {} : { body }) })
  return Object.assign(controller, {
    token,
    send,
    expect: async (status: number, method: string, path: string, body?: unknown) => {
      const answer = await send(method, path, body)
      if (answer.status !== status)
        t.fail(`${method} ${path}: ${answer.status} ${answer.text}; ${status} is right`)
      return answer.body
    },
    list: async (path: string) => {
      const answer = await send('GET', path)
      if (answer.status !== 200) t.fail(`${path}: ${answer.status} ${answer.text}`)
      return JSON.parse(answer.text) as Json[] // every list is an array of objects
    },
  })
}

export interface EnrolOptions {
  readonly tags?: readonly string[]
  readonly description?: Partial<AgentDescription>
  readonly organizationId?: number | null
}

/** Creates the row of an agent as its first hello does; returns its id. */
export async function enrol(
  { service }: Pick<Controller, 'service'>,
  name: string,
  options: EnrolOptions = {},
): Promise<number> {
  await makeToken(service)
  const { id: tokenId } = await service.store.queries
    .selectFrom('joinTokens')
    .select('id')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  const joining = {
    kind: 'joining' as const,
    name,
    tokenId,
    organizationId: options.organizationId ?? null,
    tagIds: [],
    takesOver: null,
    linkId: null,
  }
  const description = describe(name, digestOf(name), {
    tags: options.tags ?? [],
    condition: runningCondition,
    ...options.description,
  })
  const context = createContext(pino({ level: 'silent' }))
  return (await registerAgent(service, context, joining, description)).agentId
}
