/** The coordinator's one listener: HTTP or HTTPS, its limits, the APIs on it, and the raw server for upgrades. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { createSecureContext } from 'node:tls'
import { fastify, type FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { FleetError } from '../../errors.js'
import { trackAnswers, type FindAnswer } from './answers-under-way.js'
import type { Api } from './api.js'
import { limitConnections } from './connection-limit.js'
import { isHostless, prepareRefusal, refuseHostless } from './malformed.js'
import type { Metrics } from './metrics.js'
import { foldMethod, methodOf, toRouted } from './methods.js'
import { mountApi, prepareLifecycle } from './mount-api.js'
import { compileNetworks } from './networks.js'
import { nothingHere } from './refusals.js'
import { refuseTunnels, takeUpgrades, type HandleUpgrade } from './upgrades.js'

export interface HttpOptions {
  readonly host: string
  /** 0 chooses a free port. */
  readonly port: number
  readonly tls: TlsFiles | null
  /** Addresses or networks whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[]
  /** Limit of open connections, including agents; more are closed at once. */
  readonly connectionLimit: number
  /** Limit per address; agent links are not counted. */
  readonly connectionsPerAddress: number
  /** Addresses or networks that may carry many callers: not counted by address. */
  readonly uncountedNetworks: readonly string[]
  readonly log: Logger
  readonly metrics: Metrics
  /** Used for errors outside of any API. */
  readonly describeError: Api['describeError']
}

export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
}

type RawHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  params: Readonly<Record<string, string>>,
) => void | Promise<void>

export interface HttpServer {
  readonly server: ReturnType<typeof createServer> | ReturnType<typeof createTlsServer>
  /** Call before `listen`. The API with the empty prefix serves every path that no other API has. */
  addApi(api: Api): void
  /** Call before `listen`. `path` may have `{name}` parameters; the handler sends every response itself, errors too. */
  addRawHandler(method: 'GET' | 'PUT', path: string, handle: RawHandler): void
  /** Call before `listen`. Handles WebSocket requests of any path; the handler sends every response itself. */
  onUpgrade(handle: HandleUpgrade): void
  /** Returns the address, such as `http://127.0.0.1:8002`. */
  listen(): Promise<string>
  /** Reads the files again; rejects, and keeps the old ones, if they are invalid. */
  reloadCertificates(): Promise<void>
  /** Stops listening, waits for calls in progress, and closes the rest after `closeGraceMs`. */
  close(): Promise<void>
}

/** docs/behaviour.md, Connections: headers must be complete within 60 s, checked every 5 s. */
const headersTimeoutMs = 54_000
const timeoutCheckMs = 5_000
/** Covers only the receipt of the request, so it may be shorter than a call's longest wait. */
const requestTimeoutMs = 300_000
/** Longer than the usual idle limit of load balancers (60 s), so that they close first. */
const keepAliveTimeoutMs = 65_000
const handshakeTimeoutMs = 10_000
/** A name of 255 characters, each of four bytes that are percent-encoded. */
const paramLimit = 255 * 4 * 3
/** docs/behaviour.md, Shutdown: graceful within 10 s. */
const closeGraceMs = 8_000

export async function createHttpServer(options: HttpOptions): Promise<HttpServer> {
  const sockets = new Set<Socket>()
  const { tls, log, metrics } = options
  const limits = {
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: timeoutCheckMs,
    // We refuse these ourselves, with a body.
    requireHostHeader: false,
  }
  const server = tls
    ? createTlsServer({ ...limits, ...(await readTls(tls)), handshakeTimeout: handshakeTimeoutMs })
    : createServer(limits)
  server.keepAliveTimeout = keepAliveTimeoutMs
  server.maxConnections = options.connectionLimit
  const track = (socket: Socket): void => {
    // The same connection appears again after an ignored upgrade offer (upgrades.ts).
    if (sockets.has(socket)) return
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }
  server.on('connection', track)
  server.on('secureConnection', track)
  const release = limitConnections(server, {
    most: options.connectionsPerAddress,
    isUncounted: compileNetworks(options.uncountedNetworks),
    isPlain: tls === null,
    log,
  })

  refuseTunnels(server)
  const findAnswer = trackAnswers(server)

  const app = createApp(options, server, findAnswer)
  let closing = false
  const mountContext = { log, metrics, isClosing: () => closing }
  prepareLifecycle(app, mountContext, options.describeError)
  return {
    server,
    addApi: (api) => {
      mountApi(app, api, mountContext)
    },
    addRawHandler: (method, path, handle) => {
      addRawHandler(app, { method, path, handle })
    },
    onUpgrade: (handle) => {
      takeUpgrades(server, { findAnswer, release }, handle)
    },
    listen: async () => {
      await app.ready()
      await listenOn(server, options)
      return addressOf(server.address(), tls !== null)
    },
    reloadCertificates: async () => {
      if (tls && 'setSecureContext' in server) server.setSecureContext(await readTls(tls))
    },
    close: async () => {
      closing = true
      const closed = server.listening ? once(server, 'close') : Promise.resolve()
      server.close()
      server.closeIdleConnections()
      // Node does not count a connection as idle before its first request.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
      const deadline = setTimeout(() => {
        for (const socket of sockets) socket.destroy()
      }, closeGraceMs)
      await app.close()
      await closed
      clearTimeout(deadline)
    },
  }
}

/** Throws FleetError 'invalid' if this is no certificate with its key: bad configuration (docs/behaviour.md, Settings). */
async function readTls({
  certFile,
  keyFile,
}: TlsFiles): Promise<{ cert: Buffer; key: Buffer; minVersion: 'TLSv1.2' }> {
  try {
    const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)])
    createSecureContext({ cert, key })
    return { cert, key, minVersion: 'TLSv1.2' }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const message = `--tls-cert and --tls-key must name PEM files, a certificate and its key: ${why}`
    throw new FleetError('invalid', 'auth', message, { cause })
  }
}

function createApp(
  options: HttpOptions,
  server: HttpServer['server'],
  findAnswer: FindAnswer,
): FastifyInstance {
  const { log, trustedProxies } = options
  return fastify({
    serverFactory: (handle) =>
      server.on('request', (request, response) => {
        if (isHostless(request)) refuseHostless(response)
        else {
          foldMethod(request)
          handle(request, response)
        }
      }),
    clientErrorHandler: prepareRefusal(findAnswer, log),
    exposeHeadRoutes: false,
    // Our own route table validates and serializes; the framework's compilers would only cost start-up time.
    schemaController: {
      compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler },
    },
    // Calls on open connections are served while the server closes; their answers end the connection.
    return503OnClosing: false,
    trustProxy: trustedProxies.length === 0 ? false : compileNetworks(trustedProxies),
    rewriteUrl: ({ url = '/' }) => escapeBrokenPath(url),
    routerOptions: { maxParamLength: paramLimit },
  })
}

function noCompiler(): never {
  throw new Error('a route has a schema for the framework')
}

/** A path that cannot be percent-decoded is taken literally and is thus an unknown path. */
function escapeBrokenPath(url: string): string {
  const end = url.indexOf('?')
  const path = end < 0 ? url : url.slice(0, end)
  if (!path.includes('%')) return url
  try {
    decodeURIComponent(path)
    return url
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length)
  }
}

interface RawRoute {
  readonly method: 'GET' | 'PUT'
  readonly path: string
  readonly handle: RawHandler
}

function addRawHandler(app: FastifyInstance, { method, path, handle }: RawRoute): void {
  app.route({
    method: toRouted(method),
    url: path.replace(/\{(\w+)\}/g, ':$1'),
    // Runs before the framework reads a body.
    onRequest: async (request, reply) => {
      if (methodOf(request.raw) !== method) throw nothingHere()
      reply.hijack()
      request.raw.method = method
      // The framework passes decoded strings, one per parameter of the path.
      await handle(request.raw, reply.raw, request.params as Readonly<Record<string, string>>)
    },
    handler: () => undefined,
  })
}

async function listenOn(
  server: HttpServer['server'],
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  server.listen({ host, port })
  await once(server, 'listening').catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause)
    const text = `listen: ${host} port ${port} cannot be listened on: ${why}`
    throw new Error(`${text}; right would be a free HOST:PORT of this host (--listen)`, { cause })
  })
}

function addressOf(address: AddressInfo | string | null, secure: boolean): string {
  if (address === null || typeof address === 'string') return ''
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `${secure ? 'https' : 'http'}://${host}:${address.port}`
}
