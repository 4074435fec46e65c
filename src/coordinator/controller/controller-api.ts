/** The controller API (`/api/v1`, Bearer): the routes of all resources, who may call, the api log. */
import type { AnsweredCall, Api } from '../http/api.js'
import { readBasic, readToken } from '../http/credentials.js'
import type { Route } from '../http/route.js'
import type { ApiLog, RecordedCall } from '../state-service/api-log.js'
import type { Authenticator } from '../state-service/identity/authenticate.js'
import type { Identity } from '../state-service/identity/identity.js'
import { unauthenticated } from '../state-service/identity/sessions.js'
import { accountRoutes } from './accounts.js'
import { authRoutes } from './auth.js'
import { callbackOperation, oidcRoutes } from './auth-oidc.js'
import { describeError } from './error-body.js'
import { idpRoutes } from './idps.js'
import { organizationRoutes } from './organizations.js'
import { permissionRoutes } from './permissions.js'
import { sessionRoutes } from './sessions.js'
import { userRoutes } from './users.js'

export interface ControllerParts {
  readonly identity: Identity
  readonly authenticator: Authenticator
  readonly apiLog: ApiLog
  /** How browsers and identity providers reach this service: `https://fleet.example.com`. */
  readonly readBaseUrl: () => string
  /** The routes of the resources; those about who may do what come from here. */
  readonly resources: readonly Route[]
}

export function createControllerApi(parts: ControllerParts): Api {
  const { identity, authenticator, apiLog, readBaseUrl, resources } = parts
  return {
    name: 'controller',
    prefix: '/api/v1',
    routes: [
      ...authRoutes(identity),
      ...oidcRoutes(identity, readBaseUrl),
      ...sessionRoutes(identity),
      ...organizationRoutes(identity.service),
      ...accountRoutes(identity),
      ...userRoutes(identity.service),
      ...permissionRoutes(identity.service),
      ...idpRoutes(identity),
      ...resources,
    ],
    authenticate: ({ headers, sourceAddress }) => {
      const token = readToken(headers, 'bearer')
      if (token === undefined)
        return Promise.reject(
          unauthenticated('this call needs "Authorization: Bearer <access token>"'),
        )
      return authenticator.authenticate(token, sourceAddress)
    },
    describeError,
    onAnswered: (call) => {
      if (isRecorded(call)) apiLog.record(toRecord(call))
    },
  }
}

/** Every call that is no GET, and every failed login (choices: 2, apilogs). */
function isRecorded({ method, route, status }: AnsweredCall): boolean {
  if (method !== 'GET' && method !== 'HEAD') return true
  return route?.operationId === callbackOperation && status >= 400
}

function toRecord(call: AnsweredCall): RecordedCall {
  const { context, actor, route, method, path, status, answer, note } = call
  return {
    organization: actor ? actor.organizationId : (note.organization ?? null),
    traceId: context.traceId,
    account: nameOf(call),
    method,
    path,
    status,
    keyType: keyTypeOf(route),
    keyId: call.objectId ?? readNumber(answer?.body, 'id'),
    msg: readText(answer?.body, 'errorMsg') ?? route?.summary ?? '',
  }
}

/** Of a login: who tried. */
function nameOf({ actor, note, caller }: AnsweredCall): string {
  return actor?.accountName ?? note.account ?? readBasic(caller.headers)?.user ?? ''
}

/** The verbs of a group have their own errorKey. */
function keyTypeOf(route: Route | null): string {
  if (route === null) return 'path'
  return route.errorKey === 'deploy' ? 'vclgroup' : route.errorKey
}

function readNumber(body: unknown, key: string): number | null {
  const value: unknown = isRecord(body) ? body[key] : undefined
  return typeof value === 'number' ? value : null
}

function readText(body: unknown, key: string): string | undefined {
  const value: unknown = isRecord(body) ? body[key] : undefined
  return typeof value === 'string' ? value : undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
