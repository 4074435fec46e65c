/** A small in-memory API of things on a real listener, for testing the conventions without a store. */
import { Type } from 'typebox'
import { pino } from 'pino'
import { FleetError } from '../../../src/errors.js'
import type { Actor } from '../../../src/resources/permission.js'
import type { AnsweredCall, Api } from '../../../src/coordinator/http/api.js'
import { readToken } from '../../../src/coordinator/http/credentials.js'
import { createMetrics } from '../../../src/coordinator/http/metrics.js'
import { answerList, route, type Route } from '../../../src/coordinator/http/route.js'
import {
  createHttpServer,
  type HttpOptions,
  type HttpServer,
} from '../../../src/coordinator/http/server.js'
import { describeError } from '../../../src/coordinator/controller/error-body.js'

export interface ThingsServer {
  readonly base: string
  readonly http: HttpServer
  readonly lines: Record<string, unknown>[]
  readonly answered: AnsweredCall[]
  /** The bodies that the writing handlers received, in order. */
  readonly bodies: unknown[]
}

const thing = Type.Object({ id: Type.Integer(), name: Type.String() })
const reference = Type.Object(
  { id: Type.Integer({ minimum: 1 }), name: Type.Optional(Type.Unknown()) },
  { additionalProperties: false },
)
const newThing = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 255 }),
    count: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
    mainVCL: Type.Optional(reference),
    tags: Type.Optional(Type.Union([Type.Array(reference), Type.Null()])),
    labels: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { additionalProperties: false },
)
const verbQuery = Type.Object({
  wait: Type.Optional(Type.String({ pattern: '^[0-9]{1,4}s?$' })),
  percent: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
  force: Type.Optional(Type.Boolean()),
})

export const boss: Actor = {
  accountId: 1,
  accountName: 'boss',
  sessionId: 1,
  organizationId: null,
  role: 'system',
  grants: {},
}
const reader: Actor = { ...boss, accountName: 'reader', role: 'regular', grants: { tag: 'read' } }
const stranger: Actor = { ...boss, accountName: 'stranger', role: 'regular' }
const actors: Readonly<Record<string, Actor>> = { boss, reader, stranger }

/** Bearer tokens are the names `boss`, `reader` and `stranger`. */
export async function startThings(options: Partial<HttpOptions> = {}): Promise<ThingsServer> {
  const lines: Record<string, unknown>[] = []
  const answered: AnsweredCall[] = []
  const bodies: unknown[] = []
  const log = pino(
    { base: null, level: 'info' },
    { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) }, // pino writes objects
  )
  const http = await createHttpServer({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    trustedProxies: [],
    connectionLimit: 1000,
    connectionsPerAddress: 1000,
    uncountedNetworks: [],
    log,
    metrics: createMetrics(() => Promise.resolve({ Running: 2 })),
    describeError,
    ...options,
  })
  http.addApi({
    name: 'things',
    prefix: '/api/v1',
    routes: thingRoutes(bodies),
    authenticate: ({ headers }) => {
      const actor = actors[readToken(headers, 'bearer') ?? '']
      return actor
        ? Promise.resolve(actor)
        : Promise.reject(new FleetError('unauthenticated', 'auth', 'log in first'))
    },
    describeError,
    onAnswered: (call) => answered.push(call),
  })
  http.addApi(publicApi)
  http.addRawHandler('GET', '/raw/{name}', (_request, response, { name }) => {
    response.end(`raw ${name ?? ''}`)
  })
  return { base: await http.listen(), http, lines, answered, bodies }
}

const publicApi: Api = {
  name: 'base',
  prefix: '',
  routes: [
    route({
      method: 'GET',
      path: '/page',
      operationId: 'readPage',
      summary: 'A page',
      errorKey: 'path',
      permission: 'public',
      answers: { 200: null },
      handle: () =>
        Promise.resolve({
          status: 200,
          body: Buffer.from('<p>page</p>'),
          headers: { 'content-type': 'text/html; charset=utf-8' },
        }),
    }),
  ],
  authenticate: null,
  describeError,
}

function thingRoutes(bodies: unknown[]): Route[] {
  const things = new Map(
    [1, 2, 3].map((id) => [id, { id, name: `thing ${id}` }] as const), // a pair each
  )
  const find: Route['find'] = (_context, _actor, id) => Promise.resolve(things.get(id))
  const read = { type: 'tag', access: 'read' } as const
  const write = { type: 'tag', access: 'write' } as const
  const keep = (body: unknown): void => {
    bodies.push(body)
  }
  return [
    route({
      method: 'GET',
      path: '/things',
      operationId: 'listThings',
      summary: 'Lists things',
      errorKey: 'tag',
      permission: read,
      query: Type.Object({
        name: Type.Optional(Type.String()),
        many: Type.Optional(Type.Integer()),
      }),
      answers: { 200: Type.Array(thing) },
      handle: ({ query }) => {
        const count = query.many ?? 3
        return Promise.resolve(
          answerList(
            Array.from({ length: count }, (_, i) => ({ id: i + 1, name: 'x'.repeat(500) })),
            count,
          ),
        )
      },
    }),
    route({
      method: 'POST',
      path: '/things',
      operationId: 'createThing',
      summary: 'Makes a thing',
      errorKey: 'tag',
      permission: write,
      body: newThing,
      ignoredKeys: ['id', 'created'],
      answers: { 201: thing },
      handle: ({ body }) => {
        keep(body)
        if (body.name === 'taken')
          return Promise.reject(new FleetError('conflict', 'tag', 'the name is taken'))
        if (body.name === 'slow down')
          return Promise.reject(
            new FleetError('limited', 'auth', 'too many', { retryAfterSeconds: 12.2 }),
          )
        if (body.name === 'bug') return Promise.reject(new TypeError('secret detail'))
        return Promise.resolve({ status: 201, body: { id: 4, name: body.name } })
      },
    }),
    route({
      method: 'GET',
      path: '/things/{id}',
      operationId: 'readThing',
      summary: 'Reads a thing',
      errorKey: 'tag',
      permission: read,
      find,
      answers: { 200: thing },
      handle: ({ object }) => Promise.resolve({ status: 200, body: object }),
    }),
    route({
      method: 'PUT',
      path: '/things/{id}',
      operationId: 'changeThing',
      summary: 'Changes a thing',
      errorKey: 'tag',
      permission: write,
      find,
      body: Type.Partial(newThing, { additionalProperties: false }),
      ignoredKeys: ['id', 'created'],
      answers: { 200: thing },
      handle: ({ object, body }) => {
        keep(body)
        return Promise.resolve({ status: 200, body: object })
      },
    }),
    route({
      method: 'DELETE',
      path: '/things/{id}',
      operationId: 'deleteThing',
      summary: 'Deletes a thing',
      errorKey: 'tag',
      permission: write,
      find,
      answers: { 204: null },
      handle: () => Promise.resolve({ status: 204 }),
    }),
    route({
      method: 'PUT',
      path: '/things/{id}/go',
      operationId: 'goThing',
      summary: 'Lets a thing go',
      errorKey: 'deploy',
      permission: write,
      find,
      query: verbQuery,
      answers: { 200: Type.Unknown() },
      handle: ({ query }) => Promise.resolve({ status: 200, body: query }),
    }),
    route({
      method: 'GET',
      path: '/things/{id}/parts/{part}',
      operationId: 'readPart',
      summary: 'Reads a part',
      errorKey: 'tag',
      permission: read,
      find,
      answers: { 200: Type.Unknown() },
      handle: ({ params, object }) => Promise.resolve({ status: 200, body: { params, object } }),
    }),
    route({
      method: 'POST',
      path: '/open',
      operationId: 'openCall',
      summary: 'Needs no token',
      errorKey: 'auth',
      permission: 'public',
      body: Type.Object({ org: Type.Optional(Type.String()) }, { additionalProperties: false }),
      bodyOptional: true,
      answers: { 200: Type.Unknown() },
      handle: ({ body, actor }) =>
        Promise.resolve({ status: 200, body: { body, account: actor.accountName } }),
    }),
    route({
      method: 'GET',
      path: '/broken-list',
      operationId: 'readBrokenList',
      summary: 'Fails in the middle',
      errorKey: 'tag',
      permission: 'anyone',
      answers: { 200: Type.Array(thing) },
      handle: () => Promise.resolve(answerList(failAfter(5000), 5001)),
    }),
  ]
}

async function* failAfter(count: number): AsyncGenerator {
  for (let id = 1; id <= count; id++) {
    await Promise.resolve()
    yield { id, name: 'y'.repeat(100) }
  }
  throw new Error('the store went away')
}
