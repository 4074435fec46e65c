/**
 * Limits the connections of one address; otherwise one caller, authenticated or not, could hold all of the listener's. An agent's
 * link stops counting when it asks for its upgrade: from then on the agent gateway limits it, and a fleet may be behind one
 * address.
 */
import type { Server, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { networkOf } from '../../source-network.js'
import { answerBare } from './bare-answer.js'
import type { IsListed } from './networks.js'

interface ConnectionLimit {
  readonly most: number
  /** Addresses that may carry many callers: not counted. */
  readonly isUncounted: IsListed
  /** True if an answer can be written before anything was read, which TLS prevents. */
  readonly isPlain: boolean
  readonly log: Logger
}

/** A flood of connections is logged once per interval. */
const warnEveryMs = 60_000

/** Upgraded connections are no longer counted. */
export type ReleaseConnection = (socket: Duplex) => void

/** Call before the server listens. */
export function limitConnections(server: Server, limit: ConnectionLimit): ReleaseConnection {
  const { most, isUncounted, isPlain, log } = limit
  const held = new Map<string, number>()
  /** Network of each counted connection, keyed by its address and port. */
  const networks = new Map<string, string>()
  const warn = limitWarnings(log)

  server.on('connection', (socket: Socket) => {
    const { remoteAddress: address } = socket
    if (address === undefined || isUncounted(address)) return
    const peer = nameOf(socket)
    // Returned after an upgrade offer that was ignored (upgrades.ts).
    if (networks.has(peer)) return
    const network = networkOf(address)
    const count = held.get(network) ?? 0
    if (count >= most) {
      warn(
        { network, most },
        'more connections of an address are closed (--connections-per-address; or is it one of --trusted-proxies?)',
      )
      if (isPlain) answerTooMany(socket, most)
      else socket.destroy()
      return
    }
    held.set(network, count + 1)
    networks.set(peer, network)
    socket.once('close', () => {
      release(peer)
    })
  })
  server.on('drop', () => {
    warn({}, 'there are as many connections as there may be: more are closed')
  })
  return (socket) => {
    // For an HTTP server this is a socket; behind TLS it differs from the counted object.
    const { remoteAddress, remotePort } = socket as Partial<Socket>
    release(nameOf({ remoteAddress, remotePort }))
  }

  function release(peer: string): void {
    const network = networks.get(peer)
    if (network === undefined) return
    networks.delete(peer)
    const left = (held.get(network) ?? 1) - 1
    if (left > 0) held.set(network, left)
    else held.delete(network)
  }
}

/** Equal for a connection and for the socket that an upgrade passes on. */
function nameOf({
  remoteAddress = '',
  remotePort = 0,
}: Pick<Partial<Socket>, 'remoteAddress' | 'remotePort'>): string {
  return `${remoteAddress} ${remotePort}`
}

function answerTooMany(socket: Socket, most: number): void {
  // A rejected caller may have disconnected already.
  socket.on('error', () => undefined)
  answerBare(socket, {
    status: 429,
    errorKey: 'auth',
    errorMsg: `there are ${most} connections of your address; close some, or use them again`,
    headers: { 'Retry-After': '1' },
  })
}

function limitWarnings(log: Logger): (fields: object, message: string) => void {
  let warnedAtMs = -Infinity
  return (fields, message) => {
    const nowMs = performance.now()
    if (nowMs - warnedAtMs < warnEveryMs) return
    warnedAtMs = nowMs
    log.warn(fields, message)
  }
}
