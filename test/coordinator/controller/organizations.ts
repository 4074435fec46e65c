/** Two organizations with callers of the routes on a real listener, and one object of each kind. */
import { pino } from 'pino'
import type { Test } from 'tap'
import { describeError } from '../../../src/coordinator/controller/error-body.js'
import { resourceRoutes } from '../../../src/coordinator/controller/resources.js'
import { createMetrics } from '../../../src/coordinator/http/metrics.js'
import { createHttpServer } from '../../../src/coordinator/http/server.js'
import type { Actor } from '../../../src/resources/permission.js'
import { FleetError } from '../../../src/errors.js'
import {
  administrator,
  administratorOf,
  startService,
  type TestService,
} from '../gateway/service.js'
import { callHttp } from '../../support/http-call.js'
import type { Json } from './client.js'

export const vcl = 'vcl 4.1;\n'

export type Call = (status: number, method: string, path: string, body?: unknown) => Promise<Json>

interface Organizations {
  readonly service: TestService
  readonly red: number
  readonly blue: number
  readonly as: Readonly<Record<'system' | 'red' | 'blue' | 'nobody' | 'reader' | 'writer', Call>>
}

/** The routes on a real listener; a header selects the caller, without accounts of organizations. */
export async function startOrganizations(t: Test): Promise<Organizations> {
  const service = await startService(t)
  const [red = 0, blue = 0] = await makeOrganizations(service, ['red', 'blue'])
  const regular = { ...administratorOf(red), role: 'regular' as const }
  const actors = {
    system: administrator,
    red: administratorOf(red),
    blue: administratorOf(blue),
    nobody: regular,
    reader: { ...regular, grants: { deployment: 'read', vclgroup: 'read' } },
    writer: { ...regular, grants: { deployment: 'write', vclgroup: 'write' } },
  } satisfies Record<string, Actor>
  const http = await createHttpServer({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    trustedProxies: [],
    connectionLimit: 100,
    connectionsPerAddress: 1000,
    uncountedNetworks: [],
    log: pino({ level: 'silent' }),
    metrics: createMetrics(() => Promise.resolve({})),
    describeError,
  })
  http.addApi({
    name: 'controller',
    prefix: '',
    routes: resourceRoutes(service),
    authenticate: ({ headers }) => {
      const actor = Object.entries(actors).find(([name]) => name === headers.authorization)?.[1]
      return actor
        ? Promise.resolve(actor)
        : Promise.reject(new FleetError('unauthenticated', 'auth', 'who?'))
    },
    describeError,
  })
  const base = await http.listen()
  t.teardown(() => http.close())
  const callAs =
    (name: string): Call =>
    async (status, method, path, body) => {
      const headers = { authorization: name }
      const answer = await callHttp(method, base + path, { headers, body })
      if (answer.status !== status)
        t.fail(`${name}: ${method} ${path}: ${answer.status} ${answer.text}; ${status} is right`)
      return (answer.text === '' ? {} : JSON.parse(answer.text)) as Json // objects and arrays
    }
  const as = {
    system: callAs('system'),
    red: callAs('red'),
    blue: callAs('blue'),
    nobody: callAs('nobody'),
    reader: callAs('reader'),
    writer: callAs('writer'),
  }
  return { service, red, blue, as }
}

async function makeOrganizations(
  service: TestService,
  names: readonly string[],
): Promise<number[]> {
  const made = await service.store.queries
    .insertInto('organizations')
    .values(
      names.map((name) => ({
        name,
        accessTtlSeconds: 600,
        refreshTtlSeconds: 3600,
        locked: 0 as const,
        createdAt: 0,
        updatedAt: 0,
      })),
    )
    .returning('id')
    .execute()
  return made.map(({ id }) => id)
}

/** One object of each kind, by path. */
export async function seed(call: Call, name: string): Promise<Record<string, Json>> {
  const tag = await call(201, 'POST', '/tags', { name })
  const file = await call(201, 'POST', '/files', { name, source: vcl })
  const deployment = await call(201, 'POST', '/deployments', { name, tags: [{ id: tag['id'] }] })
  const domain = await call(201, 'POST', '/domains', { fqdn: `${name}.example` })
  const group = await call(201, 'POST', '/vclgroups', {
    name,
    mainVCL: { id: file['id'] },
    domains: [{ id: domain['id'] }],
    deployments: [{ id: deployment['id'] }],
  })
  const token = await call(201, 'POST', '/jointokens', { label: name })
  return {
    '/tags': tag,
    '/files': file,
    '/deployments': deployment,
    '/domains': domain,
    '/vclgroups': group,
    '/jointokens': token,
  }
}

export function rows(answer: unknown): Json[] {
  return answer as Json[] // the answer is a list
}

export async function ids(call: Call, path: string): Promise<unknown[]> {
  return rows(await call(200, 'GET', path)).map((row) => row['id'])
}
