/** Puts an API's routes into the framework's router and lifecycle: every path for all methods, so that our dispatch answers 405. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { createContext, newTraceId, traceIdPattern } from '../../context.js'
import type { AnsweredCall, Api, Caller } from './api.js'
import {
  bodyLimitBytes,
  dropUnreadBody,
  explainUnread,
  outlastBody,
  publicBodyLimitBytes,
} from './body.js'
import {
  admitCall,
  prepareRoute,
  runCall,
  type Exchange,
  type PreparedRoute,
  type Target,
} from './dispatch.js'
import { sendEventStream } from './event-stream.js'
import { methodOf, routedMethods } from './methods.js'
import type { Metrics } from './metrics.js'
import type { Answer } from './route.js'
import { sendAnswer } from './send-answer.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Null if the request is not a call of an API. */
    exchange: Exchange | null
  }
}

interface MountContext {
  readonly log: Logger
  readonly metrics: Metrics
  /** Set when the server stops: each connection ends with its answer. */
  readonly isClosing: () => boolean
}

/** Paths are cut to this length in logs. */
const pathLimit = 1000

/** Call once, before any API is mounted. */
export function prepareLifecycle(
  app: FastifyInstance,
  mountContext: MountContext,
  describeError: Api['describeError'],
): void {
  app.decorateRequest('exchange', null)
  // Unsupported types were refused before; this reads the bytes, up to the limit of the route.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => {
    done(null, bytes)
  })
  app.setErrorHandler((error, request, reply) => {
    if (request.exchange) return failCall(error, request.exchange, { request, reply, mountContext })
    const context = createContext(mountContext.log, newTraceId())
    reply.header('x-trace-id', context.traceId)
    return sendAnswer(reply, describeError(error, { context, errorKey: 'path' }), context.log)
  })
}

export function mountApi(app: FastifyInstance, api: Api, mountContext: MountContext): void {
  const targets = collectTargets(api)
  for (const target of targets)
    mountTarget(app, toRouterPath(target.template), {
      findTarget: () => target,
      limitBytes: target.limitBytes,
      mountContext,
    })
  for (const prefix of api.prefixes ?? [api.prefix]) {
    const findTarget = prepareFallback(api, prefix, targets)
    const fallback = { findTarget, limitBytes: publicBodyLimitBytes, mountContext }
    mountTarget(app, `${prefix}/*`, fallback)
    const isTaken = prefix === '' || targets.some(({ template }) => template === prefix)
    if (!isTaken) mountTarget(app, prefix, fallback)
  }
}

/** Handles unknown paths below the prefix. */
function prepareFallback(
  api: Api,
  prefix: string,
  targets: readonly Target[],
): (request: FastifyRequest) => Target {
  const isPublic = targets
    .filter(({ template }) => template.startsWith(`${prefix}/`))
    .flatMap(({ methods }) => [...methods.values()])
    .every(isPublicRoute)
  const unknown = { ...prepareTarget(api, '', new Map()), template: 'unknown', isPublic }
  const { fallback } = api
  if (!fallback) return () => unknown
  const { route, leadsHere } = fallback
  const target = prepareTarget(api, route.path, new Map([['GET', prepareRoute(route)]]))
  return (request) =>
    request.method === 'GET' && leadsHere(pathOf(request), request.headers) ? target : unknown
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
  const routes = [...methods.values()]
  const isPublic = routes.some(isPublicRoute)
  const template = `${api.prefix}${path}`
  return { api, template, methods, isPublic, limitBytes: limitBytesOf(routes) }
}

/** A caller that is not authenticated yet may send less. */
function limitBytesOf(routes: readonly PreparedRoute[]): number {
  const isPublic = routes.filter(({ route }) => route.method !== 'GET').every(isPublicRoute)
  return isPublic ? publicBodyLimitBytes : bodyLimitBytes
}

function isPublicRoute({ route }: PreparedRoute): boolean {
  return route.permission === 'public'
}

function toRouterPath(template: string): string {
  return template.replace(/\{(\w+)\}/g, ':$1')
}

interface Mounting {
  readonly findTarget: (request: FastifyRequest) => Target
  readonly limitBytes: number
  readonly mountContext: MountContext
}

function mountTarget(
  app: FastifyInstance,
  url: string,
  { findTarget, mountContext, limitBytes }: Mounting,
): void {
  app.route({
    method: [...routedMethods],
    url,
    bodyLimit: limitBytes,
    onRequest: async (request, reply) => {
      const exchange = startExchange(request, findTarget(request), mountContext.log)
      request.exchange = exchange
      reply.header('x-trace-id', exchange.context.traceId)
      reply.header('x-content-type-options', 'nosniff')
      reply.header('cache-control', 'no-store')
      await admitCall(exchange, request)
    },
    handler: async (request, reply) => {
      const exchange = exchangeOf(request)
      return sendCall(exchange, await runCall(exchange, request.body), {
        request,
        reply,
        mountContext,
      })
    },
  })
}

function exchangeOf({ exchange }: FastifyRequest): Exchange {
  if (!exchange) throw new Error('a call without its exchange')
  return exchange
}

interface Sending {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly mountContext: MountContext
}

async function failCall(
  error: unknown,
  exchange: Exchange,
  sending: Sending,
): Promise<FastifyReply> {
  const { request, reply } = sending
  const { api, limitBytes } = exchange.target
  const { context, route } = exchange
  // The framework would end the connection after a refused body; the rest of the body is discarded instead.
  reply.removeHeader('connection')
  const explained = explainUnread(error, request.raw, limitBytes)
  const answer = api.describeError(explained, { context, errorKey: route?.errorKey ?? 'path' })
  // The error occurred in the middle of another answer, which is logged.
  if (exchange.answer) return sendAnswer(reply, answer, context.log)
  exchange.error = explained
  return sendCall(exchange, answer, sending)
}

async function sendCall(
  exchange: Exchange,
  answer: Answer,
  { request, reply, mountContext }: Sending,
): Promise<FastifyReply> {
  const { target, context } = exchange
  exchange.answer = answer
  dropUnreadBody(request.raw)
  if (target.api.readHeaders) reply.headers(await target.api.readHeaders())
  // Logged before the answer is sent, so that its trace id can be found in the log by then.
  const call = describeCall(exchange, request)
  logCall(call)
  if (answer.stream) {
    // The duration of a stream is not a waiting time.
    recordCall(call, exchange, mountContext.metrics)
    return sendEventStream(reply, answer, call.method)
  }
  const finish = (): void => {
    if (!reply.raw.writableFinished) context.log.info('the caller left before its answer')
    recordCall(call, exchange, mountContext.metrics)
  }
  if (reply.raw.destroyed) finish()
  else reply.raw.once('close', finish)
  if (mountContext.isClosing()) reply.header('connection', 'close')
  if (mountContext.isClosing() || !reply.raw.shouldKeepAlive) await outlastBody(request.raw)
  return sendAnswer(reply, answer, context.log)
}

function startExchange(request: FastifyRequest, target: Target, log: Logger): Exchange {
  const caller: Caller = {
    headers: request.headers,
    sourceAddress: request.ip,
    secure: request.protocol === 'https',
    method: methodOf(request.raw),
  }
  return {
    target,
    context: createContext(log, chooseTraceId(request)),
    caller,
    startedAt: performance.now(),
    admitted: null,
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
  return {
    ...exchange,
    method: exchange.caller.method,
    path: pathOf(request).slice(0, pathLimit),
    status: exchange.answer?.status ?? 0,
    durationSeconds: (performance.now() - exchange.startedAt) / 1000,
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

/** Time at which the answer was sent; its duration ends there. */
function recordCall(
  call: AnsweredCall,
  { target: { api, template }, startedAt }: Exchange,
  metrics: Metrics,
): void {
  const durationSeconds = (performance.now() - startedAt) / 1000
  metrics.observeRequest({ api: api.name, route: template, status: call.status, durationSeconds })
  api.onAnswered?.({ ...call, durationSeconds })
}
