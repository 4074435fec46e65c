/** Users of organizations that call the API: created by the system administrator, logged in, each with a way to call. */
import type { Test } from 'tap'
import { resourceRoutes } from '../../../src/coordinator/controller/resources.js'
import { basic, type CallAnswer } from '../../support/http-call.js'
import {
  administrator,
  startController,
  type Controller,
  type ControllerOptions,
} from '../../support/start-controller.js'

export type Json = Record<string, unknown>

/** Fails the test unless the answer has this status; returns its body, of a list the array. */
export type Call = (status: number, method: string, path: string, body?: unknown) => Promise<Json>

export interface Person {
  readonly id: number
  readonly name: string
  readonly token: string
  readonly call: Call
}

export interface Tenants {
  readonly controller: Controller
  /** The system administrator. */
  readonly system: Person
  readonly login: (name: string, organization?: string, password?: string) => Promise<CallAnswer>
  /** Logs in again, with another session. */
  readonly openSession: (name: string, organization?: string, password?: string) => Promise<Person>
  readonly makeOrganization: (name: string, fields?: Json) => Promise<number>
  /** Created by the system administrator and logged in; the first of an organization is its administrator. */
  readonly addPerson: (name: string, organization: string) => Promise<Person>
  /** A caller with a token. */
  readonly as: (token: string) => Call
}

export const password = 'long enough a word'

/** Ends with the test. */
export async function startTenants(t: Test, options: ControllerOptions = {}): Promise<Tenants> {
  const controller = await startController(t, { resources: resourceRoutes, ...options })
  const as =
    (token: string): Call =>
    async (status, method, path, body) => {
      const answer = await controller.call(method, `/api/v1${path}`, { token, body })
      if (answer.status !== status)
        t.fail(`${method} ${path}: ${answer.status} ${answer.text}; ${status} is right`)
      return answer.text === '' ? {} : (JSON.parse(answer.text) as Json) // objects and arrays
    }
  const login: Tenants['login'] = (name, organization, word = password) =>
    controller.call('POST', '/api/v1/auth/login', {
      headers: { authorization: basic(name, word) },
      body: organization === undefined ? undefined : { org: organization },
    })
  const openSession: Tenants['openSession'] = async (name, organization, word) => {
    const { status, body, text } = await login(name, organization, word)
    if (status !== 200) t.fail(`login of ${name}: ${status} ${text}`)
    const token = String(body['accessToken'])
    const { account } = (await as(token)(200, 'GET', '/auth/whoami')) as { account: Json }
    return { id: Number(account['id']), name, token, call: as(token) }
  }
  const system = await openSession(administrator.user, undefined, administrator.password)
  return {
    controller,
    system,
    as,
    login,
    openSession,
    makeOrganization: async (name, fields = {}) =>
      idOf(await system.call(201, 'POST', '/organizations', { name, ...fields })),
    addPerson: async (name, organization) => {
      const [found] = rows(await system.call(200, 'GET', `/organizations?name=${organization}`))
      await system.call(201, 'POST', '/accounts', { name, password, organization: found })
      return openSession(name, organization)
    },
  }
}

/** Grants read access to a type of objects; returns the permission. */
export function grant(
  system: Person,
  { id }: Person,
  organizationId: number,
  type: string,
): Promise<Json> {
  return system.call(201, 'POST', '/permissions', {
    account: { id },
    organization: { id: organizationId },
    type,
    read: true,
    write: false,
  })
}

export function idOf(object: Json | undefined): number {
  return Number(object?.['id'])
}

export function rows(answer: unknown): Json[] {
  return answer as Json[] // of a list
}

export async function ids(call: Call, path: string): Promise<number[]> {
  return rows(await call(200, 'GET', path)).map(idOf)
}
