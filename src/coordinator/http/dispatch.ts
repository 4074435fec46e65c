/**
 * One call from its first header to its answer, in the order that the API promises (choices: 2): 401, 405 or 404 of
 * the path, 403 of the type, 404 of the object, then 415, 413 and 400 of body and query, then what the handler says.
 */
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../context.js'
import { mayInConsole } from '../../resources/console-role.js'
import { may, type Access, type Actor, type PermissionType } from '../../resources/permission.js'
import { FleetError, type ErrorKey } from '../../errors.js'
import type { Api, Caller } from './api.js'
import {
  bodyLimitBytes,
  bodyWords,
  dropUnreadBody,
  publicBodyLimitBytes,
  readBody,
} from './body.js'
import { answerEditable } from './edit-object.js'
import { prepareInput, type ReadInput } from './input.js'
import { MethodNotAllowed } from './method-not-allowed.js'
import { nothingHere } from './nothing-here.js'
import { prepareQuery, type RawQuery, type ReadQuery } from './query.js'
import type { Answer, CallNote, Route } from './route.js'

/** A path of an API with the routes of its methods; unknown paths have none. */
export interface Target {
  readonly api: Api
  /** Prefix and template, for the metrics. */
  readonly template: string
  readonly methods: ReadonlyMap<string, PreparedRoute>
  /** Some of its calls are public, or all around an unknown path: nobody logs in to learn what is not there. */
  readonly isPublic: boolean
}

export interface PreparedRoute {
  readonly route: Route
  readonly readQuery: ReadQuery
  /** Null: the call takes no body. */
  readonly readInput: ReadInput | null
}

/** Grows while the call is served; what it holds in the end is logged. */
export interface Exchange {
  readonly context: Context
  readonly caller: Caller
  readonly startedAt: number
  actor: Actor | null
  note: CallNote
  route: Route | null
  objectId: number | null
  error: unknown
  answer: Answer | null
}

const idPattern = /^[1-9][0-9]{0,15}$/

/** Who calls a public route: nobody, who may nothing and sees nothing. */
const nobody: Actor = {
  accountId: 0,
  accountName: '',
  sessionId: 0,
  organizationId: 0,
  role: 'regular',
  grants: {},
}

export function prepareRoute(route: Route): PreparedRoute {
  const { body: schema, ignoredKeys = [], ignoresUnknownKeys = false, errorKey } = route
  return {
    route,
    readQuery: prepareQuery(route.query, errorKey),
    readInput: schema ? prepareInput({ schema, ignoredKeys, ignoresUnknownKeys, errorKey }) : null,
  }
}

/** Never rejects: what goes wrong is answered by the API's error body. */
export async function answerCall(
  target: Target,
  exchange: Exchange,
  request: FastifyRequest,
): Promise<Answer> {
  try {
    return await decideAnswer(target, exchange, request)
  } catch (error) {
    exchange.error = error
    const errorKey: ErrorKey = exchange.route?.errorKey ?? 'path'
    return target.api.describeError(error, { context: exchange.context, errorKey })
  } finally {
    dropUnreadBody(request.raw)
  }
}

async function decideAnswer(
  target: Target,
  exchange: Exchange,
  request: FastifyRequest,
): Promise<Answer> {
  const { context, caller } = exchange
  const { route, readQuery, readInput } = await admitCall(target, exchange, request.method)
  // The framework gives decoded strings, one for each parameter of the template.
  const params = request.params as Readonly<Record<string, string>>
  const { object: found, rest } = await findObject(exchange, route, params)

  const query = readQuery(request.query as RawQuery) // what the framework's parser makes
  const body = isBodyless(request.method)
    ? undefined
    : await readInputOf(request, { route, readInput, objectId: exchange.objectId })
  const actor = exchange.actor ?? nobody
  const { sourceAddress, headers, secure } = caller
  const call = {
    context,
    actor,
    body,
    query,
    params: rest,
    sourceAddress,
    headers,
    secure,
    note: (about: CallNote) => {
      exchange.note = about
    },
  }
  const handle = (object: unknown, guarded?: unknown): Promise<Answer> =>
    route.handle({ ...call, object, guarded })
  const { edit } = route
  if (!edit) return handle(found)
  const find = async () => (await findObject(exchange, route, params)).object
  const id = exchange.objectId
  return answerEditable({ route, edit, actor, id, headers, find, handle }, found)
}

async function admitCall(
  { api, methods, isPublic }: Target,
  exchange: Exchange,
  method: string,
): Promise<PreparedRoute> {
  const found = methods.get(method === 'HEAD' ? 'GET' : method)
  if (found) exchange.route = found.route
  if (found?.route.permission === 'public') return found
  if (api.authenticate && !(isPublic && !found))
    exchange.actor = await api.authenticate(exchange.caller)
  if (methods.size === 0) throw nothingHere()
  if (!found) throw methodNotAllowed(methods.keys())
  if (exchange.actor) await checkCaller(api, found.route, exchange.actor)
  return found
}

function methodNotAllowed(known: Iterable<string>): MethodNotAllowed {
  const methods = [...known].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  return new MethodNotAllowed(methods.join(', '))
}

async function checkCaller(api: Api, route: Route, actor: Actor): Promise<void> {
  if (route.needsNoLicense !== true) await api.admit?.()
  checkPermission(route, actor)
}

function checkPermission({ permission, errorKey }: Route, actor: Actor): void {
  if (typeof permission === 'string') return
  if ('console' in permission) {
    if (mayInConsole(actor, permission.console)) return
    const needed = permission.console === 'administer' ? 'Admin' : 'User or Admin'
    throw new FleetError('forbidden', errorKey, `this call needs the role ${needed}`)
  }
  requirePermission(actor, permission, errorKey)
  if (permission.alsoReads)
    requirePermission(actor, { type: permission.alsoReads, access: 'read' }, errorKey)
}

function requirePermission(
  actor: Actor,
  { type, access }: { readonly type: PermissionType; readonly access: Access },
  errorKey: ErrorKey,
): void {
  if (may(actor, type, access)) return
  throw new FleetError(
    'forbidden',
    errorKey,
    `this call needs the permission to ${access} "${type}"`,
  )
}

async function findObject(
  exchange: Exchange,
  route: Route,
  params: Readonly<Record<string, string>>,
): Promise<{ object: unknown; rest: Readonly<Record<string, string>> }> {
  if (Object.values(params).includes('')) throw nothingHere()
  const { id, ...rest } = params
  if (id === undefined) return { object: undefined, rest }
  const number = (route.readId ?? readDecimalId)(id)
  if (number === undefined) throw objectNotFound(id, route)
  exchange.objectId = number
  if (!route.find) return { object: undefined, rest: params }
  const object = await route.find(exchange.context, exchange.actor ?? nobody, number)
  if (object === undefined) throw objectNotFound(id, route)
  return { object, rest }
}

function readDecimalId(text: string): number | undefined {
  const number = idPattern.test(text) ? Number(text) : undefined
  return Number.isSafeInteger(number) ? number : undefined
}

function objectNotFound(id: string, { errorKey }: Route): FleetError {
  return new FleetError('not-found', errorKey, `${id.slice(0, 100)} was not found`)
}

function isBodyless(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

async function readInputOf(
  request: FastifyRequest,
  call: { route: Route; readInput: ReadInput | null; objectId: number | null },
): Promise<unknown> {
  const { route, readInput, objectId } = call
  const limitBytes = route.permission === 'public' ? publicBodyLimitBytes : bodyLimitBytes
  const body = await readBody(request.raw, { ...route, limitBytes })
  if (readInput) {
    if (body === undefined && route.bodyOptional !== true)
      throw new FleetError(
        'invalid',
        'body',
        `this call needs a body: ${(route.bodyTypes ?? ['json']).map((type) => bodyWords[type]).join(' or ')}`,
      )
    return body === undefined ? undefined : readInput(body, objectId)
  }
  refuseContent(body, route)
  return undefined
}

/** Of a call that takes no body: clients that always send one send `{}`. */
function refuseContent(body: unknown, { errorKey }: Route): void {
  if (body === undefined) return
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new FleetError('invalid', 'body', 'this call takes no body; leave it out, or send {}')
  const [key] = Object.keys(body)
  if (key !== undefined)
    throw new FleetError(
      'invalid',
      errorKey,
      `this call takes no body; ${key.slice(0, 80)} is not known here`,
    )
}
