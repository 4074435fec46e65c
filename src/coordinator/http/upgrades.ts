/** Handles requests that ask for more than an answer: WebSockets, other protocols, CONNECT tunnels and Expect. */
import type { createServer, IncomingMessage } from 'node:http'
import type { createServer as createTlsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import type { FindAnswer } from './answers-under-way.js'
import { answerBare } from './bare-answer.js'
import type { ReleaseConnection } from './connection-limit.js'

type Server = ReturnType<typeof createServer> | ReturnType<typeof createTlsServer>
export type HandleUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/** Call before the server listens. */
export function refuseTunnels(server: Server): void {
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => undefined)
    answerBare(socket, {
      status: 405,
      errorKey: 'method',
      errorMsg: 'CONNECT is for proxies, and this is none',
      headers: { Allow: 'GET, HEAD, POST, PUT, PATCH, DELETE' },
    })
  })
  // An unknown expectation may be ignored (RFC 9110, 10.1.1): the call is served like any other.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
}

/**
 * WebSockets go to `handle`. Other offers are ignored (RFC 9110, 7.8) and the call is served: some clients offer HTTP/2 (`h2c`)
 * on every connection without TLS.
 */
export function takeUpgrades(
  server: Server,
  { findAnswer, release }: { readonly findAnswer: FindAnswer; readonly release: ReleaseConnection },
  handle: HandleUpgrade,
): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (request.headers.upgrade?.toLowerCase() === 'websocket') {
      release(socket)
      handle(request, socket, head)
    } else {
      // No other listener is attached until the connection is returned.
      socket.on('error', ignore)
      const serve = (): void => {
        if (socket.destroyed) return
        // The server listens again. Every call on a connection may carry an offer, so no listener of an earlier one may remain.
        socket.off('error', ignore)
        serveAsItIs(server, request, socket, head)
      }
      const before = findAnswer(socket)
      if (before) before.once('close', serve)
      else serve()
    }
  })
}

const ignore = (): void => undefined

const ofUpgrades = new Set(['upgrade', 'http2-settings'])

/** Returns the connection to the server, as if the request had come without the offer. */
function serveAsItIs(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method = 'GET', url = '/', httpVersion, rawHeaders } = request
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    const isConnection = name.toLowerCase() === 'connection'
    const kept = isConnection ? withoutOffers(value) : value
    if (!ofUpgrades.has(name.toLowerCase()) && !(isConnection && kept === ''))
      lines.push(`${name}: ${kept}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit('setSecureContext' in server ? 'secureConnection' : 'connection', socket)
}

function withoutOffers(connection: string): string {
  return connection
    .split(',')
    .map((word) => word.trim())
    .filter((word) => !ofUpgrades.has(word.toLowerCase()))
    .join(', ')
}
