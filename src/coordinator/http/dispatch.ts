/**
 * Dispatches a call in the documented order. Before the body is read: 401, 405 or 404 of the path, 403 of the type, 404 of the
 * object, 400 of the query, 415. The framework reads the body: 413. Then 400 of the body, then the handler.
 */
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../context.js'
import { mayInConsole } from '../../resources/console-role.js'
import { may, type Access, type Actor, type PermissionType } from '../../resources/permission.js'
import { FleetError, type ErrorKey } from '../../errors.js'
import type { Api, Caller } from './api.js'
import { bodyWords, parseBody, readBodyType } from './body.js'
import { answerEditable } from './edit-object.js'
import { prepareInput, type ReadInput } from './input.js'
import { MethodNotAllowed, nothingHere } from './refusals.js'
import { prepareQuery, type RawQuery, type ReadQuery } from './query.js'
import type { Answer, BodyType, CallNote, Route } from './route.js'

/** A path of an API with the routes of its methods; unknown paths have none. */
export interface Target {
  readonly api: Api
  /** Prefix and template, used in the metrics. */
  readonly template: string
  readonly methods: ReadonlyMap<string, PreparedRoute>
  /** True if some of its calls are public, also for unknown paths beside them, which need no login for a 404. */
  readonly isPublic: boolean
  /** Of a body. */
  readonly limitBytes: number
}

export interface PreparedRoute {
  readonly route: Route
  readonly readQuery: ReadQuery
  /** Null if the call takes no body. */
  readonly readInput: ReadInput | null
}

/** Filled while the call is served; logged at its end. */
export interface Exchange {
  readonly target: Target
  readonly context: Context
  readonly caller: Caller
  readonly startedAt: number
  /** Null if the call is not admitted. */
  admitted: AdmittedCall | null
  actor: Actor | null
  note: CallNote
  route: Route | null
  objectId: number | null
  error: unknown
  answer: Answer | null
}

/** A permitted call on an existing object; its body is read next. */
interface AdmittedCall extends PreparedRoute, FoundObject {
  readonly query: Record<string, unknown>
  /** Null if there is no body. */
  readonly bodyType: BodyType | null
}

interface FoundObject {
  readonly object: unknown
  readonly params: Readonly<Record<string, string>>
}

const idPattern = /^[1-9][0-9]{0,15}$/

/** Actor of a public route: an anonymous caller without permissions. */
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

/** Collects everything that is known before the body is read. Throws FleetError. */
export async function admitCall(exchange: Exchange, request: FastifyRequest): Promise<void> {
  const { method } = exchange.caller
  const prepared = await admitCaller(exchange, method)
  // The framework passes decoded strings, one per parameter of the template.
  const params = request.params as Readonly<Record<string, string>>
  const found = await findObject(exchange, prepared.route, params)
  const query = prepared.readQuery(request.query as RawQuery) // what the framework's parser makes
  const bodyType = isBodyless(method) ? null : readBodyType(request.raw, prepared.route.bodyTypes)
  exchange.admitted = { ...prepared, ...found, query, bodyType }
}

/** `bytes` is the body. */
export async function runCall(exchange: Exchange, bytes: unknown): Promise<Answer> {
  const { context, caller, admitted, objectId: id } = exchange
  if (!admitted) throw new Error('a call runs that was not admitted')
  const { route, params, query } = admitted
  const body = isBodyless(caller.method) ? undefined : await readInputOf(admitted, bytes, id)
  const actor = exchange.actor ?? nobody
  const { sourceAddress, headers, secure } = caller
  const call = {
    context,
    actor,
    body,
    query,
    params,
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
  if (!edit) return handle(admitted.object)
  const find = () => findById(exchange, route, String(id))
  return answerEditable({ route, edit, actor, id, headers, find, handle }, admitted.object)
}

async function admitCaller(exchange: Exchange, method: string): Promise<PreparedRoute> {
  const { api, methods, isPublic } = exchange.target
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
): Promise<FoundObject> {
  if (Object.values(params).includes('')) throw nothingHere()
  const { id, ...rest } = params
  if (id === undefined) return { object: undefined, params }
  const number = (route.readId ?? readDecimalId)(id)
  if (number === undefined) throw objectNotFound(id, route)
  exchange.objectId = number
  if (!route.find) return { object: undefined, params }
  return { object: await findById(exchange, route, id), params: rest }
}

/** Finds the object by its id; `text` is the id as written in the path. */
async function findById(exchange: Exchange, route: Route, text: string): Promise<unknown> {
  const { context, actor, objectId } = exchange
  const object =
    objectId === null ? undefined : await route.find?.(context, actor ?? nobody, objectId)
  if (object === undefined) throw objectNotFound(text, route)
  return object
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
  { route, readInput, bodyType }: AdmittedCall,
  bytes: unknown,
  objectId: number | null,
): Promise<unknown> {
  const hasBody = bodyType !== null && Buffer.isBuffer(bytes)
  const body = hasBody ? await parseBody(bytes, bodyType, route.textKey) : undefined
  if (!readInput) refuseContent(body, route)
  else if (body !== undefined) return readInput(body, objectId)
  else if (route.bodyOptional !== true) {
    const right = (route.bodyTypes ?? ['json']).map((type) => bodyWords[type]).join(' or ')
    throw new FleetError('invalid', 'body', `this call needs a body: ${right}`)
  }
  return undefined
}

/** For calls without a body: clients that always send one send `{}`. */
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
