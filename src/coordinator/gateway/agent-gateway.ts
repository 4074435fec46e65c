/** The coordinator's end of the agent link: lets agents in, holds one session each, and keeps the store in step. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { WebSocketServer } from 'ws'
import { agentRevokedSubject, agentWatchSubject, desiredChangedSubject } from '../bus/subjects.js'
import { createContext } from '../../context.js'
import { FleetError } from '../../errors.js'
import { agentLinkPath, agentLinkSubprotocol, messageLimitBytes } from '../../messages/envelope.js'
import type { Credential } from '../registration/agent-credentials.js'
import { createReportRecorder } from '../reports/agent-reports.js'
import { createHeartbeatRecorder, missedHeartbeats, type HeardAgent } from '../reports/heartbeat.js'
import { createLoginLimits } from '../identity/login-limits.js'
import type { StateService } from '../service.js'
import { watchForMs } from '../statistics/live-samples.js'
import { createSampleRecorder } from '../statistics/sample-recorder.js'
import { createAdopter } from './adopter.js'
import { createAgentHttp, type HandleRequest } from './agent-http.js'
import { AgentSession } from './agent-session.js'
import { closeCodes } from './close-codes.js'
import { createDesiredSender } from './desired-sender.js'
import { admitAgent, refuseUpgrade, toRefusal } from './handshake.js'
import { InvalidationDelivery } from './invalidation-delivery.js'
import { startLinkCheck } from './link-check.js'
import { createLiveness } from './liveness.js'
import type { SessionParts } from './session-parts.js'
import { startLoop } from '../../runtime/loop.js'

export interface AgentGateway {
  /** For the HTTP server's 'upgrade' event. Answers every request itself, also one of another path (404). */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** For GET /agent/v1/sources/{sha} and PUT /agent/v1/answers/{sequence}; the body must not have been read. */
  handleRequest: HandleRequest
  /** Agents whose link lives in this process. */
  readonly sessionCount: number
  /** Ends the sessions and writes what they said last. */
  close(): Promise<void>
}

export interface GatewayOptions {
  /** docs/behaviour.md, Agent link. */
  readonly helloTimeoutMs?: number
}

const helloTimeoutMs = 10_000
/** Chosen by us: callers whose credential is being looked up, and agents that have not said hello. */
const admittingLimit = 1024
const greetingLimit = 4096
/** Chosen by us: how long a hint may take. */
const hintGraceMs = 500
/** Chosen by us: an agent sends messages whole. */
const fragmentLimit = 64
/** Chosen by us: 1 MiB in packets of 536 bytes; each read of the socket is a chunk. */
const chunkLimit = 2048

export function createAgentGateway(
  service: StateService,
  log: Logger,
  options: GatewayOptions = {},
): AgentGateway {
  const sessions = new Map<number, AgentSession>()
  /** Upgraded and not live yet. */
  const greeting = new Set<AgentSession>()
  let admitting = 0
  let closed = false
  const upgrades = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: messageLimitBytes,
    maxFragments: fragmentLimit,
    maxBufferedChunks: chunkLimit,
    handleProtocols: () => agentLinkSubprotocol,
  })
  const sender = createDesiredSender(service, log, (state, traceId) => {
    sessions.get(state.agentId)?.offer(state, traceId)
  })
  const heartbeats = createHeartbeatRecorder(service, log, { heard, gone: revoke })
  const reports = createReportRecorder(service, log)
  const adopter = createAdopter(service, log, (agentId) => sessions.has(agentId))
  const delivery = new InvalidationDelivery(service, log)
  const liveness = createLiveness(service, log)
  const limits = createLoginLimits(service, 'agents')
  const parts: SessionParts = {
    service,
    log,
    heartbeats,
    reports,
    samples: createSampleRecorder(service),
    sender,
    adopter,
    delivery,
    sessions,
    helloTimeoutMs: options.helloTimeoutMs ?? helloTimeoutMs,
  }
  const sweeper = startLoop({
    ...{ log, trouble: 'silent links cannot be cut off', everyMs: service.settings.heartbeatMs },
    pass: sweep,
  })
  const linkCheck = service.bus.isShared ? startLinkCheck(service, log, sessions) : null
  const subscriptions = [
    service.bus.subscribe(desiredChangedSubject, ({ agentIds, traceId }) => {
      const linked = agentIds.filter((agentId) => sessions.has(agentId))
      sender.request(linked, traceId ?? null)
    }),
    service.bus.subscribe(agentRevokedSubject, ({ agentIds }) => {
      revoke(agentIds)
    }),
    service.bus.subscribe(agentWatchSubject, ({ agentIds }) => {
      for (const agentId of agentIds) sessions.get(agentId)?.watch(watchForMs)
    }),
  ]

  return {
    handleUpgrade: (request, socket, head) => {
      void upgrade(request, socket, head) // catches all
    },
    handleRequest: createAgentHttp({ ...parts, limits }),
    get sessionCount() {
      return sessions.size
    },
    close,
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // Without a listener a reset while the credential is looked up would end the process.
    socket.on('error', ignoreError)
    admitting += 1
    try {
      const credential = await admit(request)
      if (socket.destroyed) return
      socket.off('error', ignoreError)
      upgrades.handleUpgrade(request, socket, head, (accepted) => {
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

  /** After each write of heartbeats: who was deleted or taken over leaves, who is behind is sent what is wanted. */
  function heard(agents: readonly HeardAgent[]): void {
    const behind: number[] = []
    for (const agent of agents) {
      const session = sessions.get(agent.id)
      if (!session) continue
      if (session.keyDigest !== agent.keyDigest) revoke([agent.id])
      else if (session.needsApply(agent)) behind.push(agent.id)
    }
    if (behind.length === 0) return
    // The hint, which is on its way unless it got lost, knows the trace id of the call that made the change.
    setTimeout(() => {
      sender.request(behind, null)
    }, hintGraceMs).unref()
  }

  function revoke(agentIds: readonly number[]): void {
    for (const agentId of agentIds)
      sessions.get(agentId)?.end(closeCodes.refused, 'this agent was deleted or taken over')
  }

  /** Half-open links: the agent is gone and its host told nobody. */
  function sweep(): void {
    const silentSince = performance.now() - (missedHeartbeats + 1) * service.settings.heartbeatMs
    for (const session of sessions.values())
      if (session.heardAtMs < silentSince) session.cutOff('nothing was heard for four heartbeats')
  }

  async function close(): Promise<void> {
    closed = true
    const loops = [sweeper.close(), liveness.stop(), sender.close()]
    if (linkCheck) loops.push(linkCheck.close())
    for (const subscription of subscriptions) subscription.close()
    for (const session of [...sessions.values(), ...greeting])
      session.end(closeCodes.goingAway, 'the coordinator stops')
    await Promise.all(loops)
    await adopter.close()
    await delivery.close()
    await heartbeats.close()
    await reports.close()
  }
}

function ignoreError(): void {
  // The socket closes by itself; there is nobody to tell.
}
