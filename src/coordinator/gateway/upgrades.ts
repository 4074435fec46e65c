/** Admits agents: authenticates the caller and turns its connection into a session. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { createContext } from '../../context.js'
import { FleetError } from '../../errors.js'
import { agentLinkPath, agentLinkSubprotocol, messageLimitBytes } from '../../messages/envelope.js'
import type { LoginLimits } from '../identity/login-limits.js'
import type { Credential } from '../registration/agent-credentials.js'
import { AgentSession } from './agent-session.js'
import { admitAgent, refuseUpgrade, toRefusal } from './handshake.js'
import type { SessionParts } from './session-parts.js'

/** Limit of callers whose credential is being checked and agents that have not sent hello. */
const admittingLimit = 1024
const greetingLimit = 4096
/** Agents do not fragment messages. */
const fragmentLimit = 64
/** 1 MiB in packets of 536 bytes; every read of the socket is one chunk. */
const chunkLimit = 2048

export interface Upgrades {
  /** Never rejects. */
  handle(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
  /** Admits no more agents. Returns the admitted sessions that are not live yet. */
  close(): ReadonlySet<AgentSession>
}

export function createUpgrades(parts: SessionParts, limits: LoginLimits): Upgrades {
  const { service, log } = parts
  /** Upgraded sessions that are not live yet. */
  const greeting = new Set<AgentSession>()
  let admitting = 0
  let closed = false
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: messageLimitBytes,
    maxFragments: fragmentLimit,
    maxBufferedChunks: chunkLimit,
    handleProtocols: () => agentLinkSubprotocol,
  })
  return {
    handle,
    close: () => {
      closed = true
      return greeting
    },
  }

  async function handle(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // Without a listener a reset while the credential is checked would end the process.
    socket.on('error', ignoreError)
    admitting += 1
    try {
      const credential = await admit(request)
      if (socket.destroyed) return
      socket.off('error', ignoreError)
      server.handleUpgrade(request, socket, head, (accepted) => {
        const session = new AgentSession(parts, accepted, credential)
        greeting.add(session)
        accepted.once('close', () => greeting.delete(session))
      })
    } catch (error) {
      refuseUpgrade(socket, toRefusal(createContext(log), error))
    } finally {
      admitting -= 1
    }
  }

  async function admit(request: IncomingMessage): Promise<Credential> {
    if (request.url?.replace(/\?.*$/s, '') !== agentLinkPath)
      throw new FleetError('not-found', 'path', `upgrades are for ${agentLinkPath}`)
    for (const session of greeting) if (session.isLive) greeting.delete(session)
    if (closed || admitting > admittingLimit || greeting.size >= greetingLimit)
      throw new FleetError('unavailable', 'agent', 'too many agents come at once')
    return admitAgent({ service, limits }, request)
  }
}

function ignoreError(): void {
  // The socket closes by itself.
}
