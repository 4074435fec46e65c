/** `--health-listen`: answers `GET /health` of load balancers, without a login; requests read saved facts, not the cache. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { openListener, type Listener } from '../host/open-listener.js'
import { isGetOf, safeHeaders } from '../host/plain-answer.js'
import type { Health } from './judge-health.js'

interface HealthListenerOptions {
  readonly listen: { readonly host: string; readonly port: number }
  readonly read: () => Health
  readonly log: Logger
}

/** Many load balancers may connect at once; each connection is closed after `connectionMs`. */
const connectionLimit = 100
const connectionMs = 5_000

/** Rejects when it cannot listen there. */
export async function startHealthListener(options: HealthListenerOptions): Promise<Listener> {
  const { listen, read, log } = options
  const server = createServer(
    { requestTimeout: connectionMs, headersTimeout: connectionMs },
    (request, response) => {
      answer(request, response, read)
    },
  )
  server.maxConnections = connectionLimit
  server.on('connection', (socket) => {
    const timer = setTimeout(() => socket.destroy(), connectionMs).unref()
    socket.once('close', () => {
      clearTimeout(timer)
    })
  })
  const listener = await openListener(server, 'healthListen', listen)
  log.info(
    { host: listen.host, port: listener.port },
    'the health of the cache is served at /health',
  )
  return listener
}

function answer(request: IncomingMessage, response: ServerResponse, read: () => Health): void {
  if (!isGetOf('/health', request, response)) return
  const health = read()
  response
    .writeHead(health.status === 'healthy' ? 200 : 503, {
      ...safeHeaders,
      'content-type': 'application/json',
    })
    .end(`${JSON.stringify(health)}\n`)
}
