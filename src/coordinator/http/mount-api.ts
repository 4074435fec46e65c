/** Puts an API's routes into the framework's router: one entry a path for all methods, so that 405 is ours to say. */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Logger } from 'pino'
import { createContext, newTraceId, traceIdPattern } from '../../context.js'
import type { AnsweredCall, Api, Caller } from './api.js'
import { outlastBody } from './body.js'
import {
  answerCall,
  prepareRoute,
  type Exchange,
  type PreparedRoute,
  type Target,
} from './dispatch.js'
import { isBelow, prepareTargets, type Ground, type MountedApi } from './find-target.js'
import type { Metrics } from './metrics.js'
import { sendEventStream } from './event-stream.js'
import { sendAnswer } from './send-answer.js'

export interface Surroundings {
  readonly log: Logger
  readonly metrics: Metrics
  /** The server ends: each connection with its answer. */
  readonly isClosing: () => boolean
  /** All that the server's parser knows. */
  readonly methods: readonly string[]
}

/** Chosen by us: paths are written to logs up to this length. */
const pathLimit = 1000

/** The others are rare: an entry of each path for each of them would cost the router megabytes. */
const commonMethods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const

export function mountApi(app: FastifyInstance, api: Api, surroundings: Surroundings): MountedApi {
  const targets = collectTargets(api)
  for (const target of targets)
    mountTarget(app, toRouterPath(target.template), { findTarget: () => target, surroundings })
  const grounds = (api.grounds ?? [api.prefix]).map((path) => describeGround(api, path, targets))
  for (const { path, unknown } of grounds) {
    const elsewhere = { findTarget: prepareElsewhere(api, unknown), surroundings }
    mountTarget(app, `${path}/*`, elsewhere)
    const isTaken = path === '' || targets.some(({ template }) => template === path)
    if (!isTaken) mountTarget(app, path, elsewhere)
  }
  return { grounds, targets }
}

function describeGround(api: Api, path: string, targets: readonly Target[]): Ground {
  const isPublic = targets
    .filter(({ template }) => isBelow(template, path))
    .flatMap(({ methods }) => [...methods.values()])
    .every(isPublicRoute)
  return { path, unknown: { api, template: 'unknown', methods: new Map(), isPublic } }
}

/** One entry of the router for all paths of all APIs: each call is refused by the API that has its path. */
export function mountRareMethods(
  app: FastifyInstance,
  apis: readonly MountedApi[],
  surroundings: Surroundings,
): void {
  const methods = surroundings.methods.filter((method) => !isCommon(method))
  const find = prepareTargets(apis)
  const findTarget = (request: FastifyRequest): Target => find(pathOf(request))
  mountTarget(app, '/*', { findTarget, surroundings, methods })
}

function prepareElsewhere(api: Api, unknown: Target): (request: FastifyRequest) => Target {
  const { elsewhere } = api
  if (!elsewhere) return () => unknown
  const { route, leadsHere } = elsewhere
  const target = prepareTarget(api, route.path, new Map([['GET', prepareRoute(route)]]))
  return (request) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    return isRead && leadsHere(pathOf(request), request.headers) ? target : unknown
  }
}

function pathOf({ originalUrl }: FastifyRequest): string {
  return originalUrl.split('?', 1)[0] ?? ''
}

function collectTargets(api: Api): Target[] {
  const paths = new Map<string, Map<string, PreparedRoute>>()
  for (const route of api.routes) {
    const methods = paths.get(route.path) ?? new Map<string, PreparedRoute>()
    methods.set(route.method, prepareRoute(route))
    paths.set(route.path, methods)
  }
  return [...paths].map(([path, methods]) => prepareTarget(api, path, methods))
}

function prepareTarget(api: Api, path: string, methods: Target['methods']): Target {
  const isPublic = [...methods.values()].some(isPublicRoute)
  return { api, template: `${api.prefix}${path}`, methods, isPublic }
}

function isPublicRoute({ route }: PreparedRoute): boolean {
  return route.permission === 'public'
}

function toRouterPath(template: string): string {
  return template.replace(/\{(\w+)\}/g, ':$1')
}

function isCommon(method: string): boolean {
  return commonMethods.some((common) => common === method)
}

interface Mounting {
  readonly findTarget: (request: FastifyRequest) => Target
  readonly surroundings: Surroundings
  /** The common ones unless given. */
  readonly methods?: readonly string[]
}

function mountTarget(app: FastifyInstance, url: string, mounting: Mounting): void {
  const { findTarget, surroundings, methods = commonMethods } = mounting
  app.route({
    method: [...methods] as HTTPMethods[], // the type lists only the common ones
    url,
    handler: (request, reply) => serveCall(findTarget(request), request, reply, surroundings),
  })
}

async function serveCall(
  target: Target,
  request: FastifyRequest,
  reply: FastifyReply,
  surroundings: Surroundings,
): Promise<FastifyReply> {
  const exchange = startExchange(request, surroundings.log)
  reply.header('x-trace-id', exchange.context.traceId)
  reply.header('x-content-type-options', 'nosniff')
  reply.header('cache-control', 'no-store')
  const answer = await answerCall(target, exchange, request)
  exchange.answer = answer
  if (target.api.readHeaders) reply.headers(await target.api.readHeaders())
  // Before the answer leaves, so that whoever got it finds its trace id in the log.
  const call = describeCall(exchange, request)
  logCall(call)
  if (answer.stream) {
    // How long a caller listens is not how long it waited.
    recordCall(target, call, exchange, surroundings.metrics)
    return sendEventStream(reply, answer, request.method)
  }
  const finish = (): void => {
    if (!reply.raw.writableFinished) exchange.context.log.info('the caller left before its answer')
    recordCall(target, call, exchange, surroundings.metrics)
  }
  if (reply.raw.destroyed) finish()
  else reply.raw.once('close', finish)
  if (surroundings.isClosing()) reply.header('connection', 'close')
  if (surroundings.isClosing() || !reply.raw.shouldKeepAlive) await outlastBody(request.raw)
  return sendAnswer(reply, answer, exchange.context.log)
}

function startExchange(request: FastifyRequest, log: Logger): Exchange {
  const caller: Caller = {
    headers: request.headers,
    sourceAddress: request.ip,
    secure: request.protocol === 'https',
    method: request.method,
  }
  return {
    context: createContext(log, chooseTraceId(request)),
    caller,
    startedAt: performance.now(),
    actor: null,
    note: {},
    route: null,
    objectId: null,
    error: null,
    answer: null,
  }
}

function chooseTraceId(request: FastifyRequest): string {
  const given = request.headers['x-trace-id']
  return typeof given === 'string' && traceIdPattern.test(given) ? given : newTraceId()
}

function describeCall(exchange: Exchange, request: FastifyRequest): AnsweredCall {
  const { startedAt, ...rest } = exchange
  return {
    ...rest,
    method: request.method,
    path: pathOf(request).slice(0, pathLimit),
    status: exchange.answer?.status ?? 0,
    durationSeconds: (performance.now() - startedAt) / 1000,
  }
}

function logCall(call: AnsweredCall): void {
  call.context.log.info(
    {
      method: call.method,
      path: call.path,
      status: call.status,
      durationMs: Math.round(call.durationSeconds * 1e5) / 100,
      account: call.actor?.accountName ?? null,
      from: call.caller.sourceAddress,
    },
    'request',
  )
}

/** When the answer was sent: its duration counts until then. */
function recordCall(
  { api, template }: Target,
  call: AnsweredCall,
  { startedAt }: Exchange,
  metrics: Metrics,
): void {
  const durationSeconds = (performance.now() - startedAt) / 1000
  metrics.observeRequest({ api: api.name, route: template, status: call.status, durationSeconds })
  api.onAnswered?.({ ...call, durationSeconds })
}
