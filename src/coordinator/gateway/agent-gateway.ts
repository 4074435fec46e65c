/** The coordinator's end of the agent link: admits agents, holds one session for each, and records their state. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import type { Subscription } from '../bus/bus.js'
import {
  agentDrainedSubject,
  agentRevokedSubject,
  agentWatchSubject,
  desiredChangedSubject,
  logOrderSubject,
  rolloutObserveSubject,
} from '../bus/subjects.js'
import { createBackendRecorder } from '../backends/backend-recorder.js'
import { createReportRecorder } from '../reports/agent-reports.js'
import { createHeartbeatRecorder, type RecordedAgent } from '../reports/heartbeat.js'
import { createLoginLimits } from '../identity/login-limits.js'
import { createRegistrar } from '../registration/registrar.js'
import type { StateService } from '../service.js'
import { watchForMs } from '../statistics/live-samples.js'
import { createSampleRecorder } from '../statistics/sample-recorder.js'
import { createAdopter } from './adopter.js'
import { createAgentHttp, type HandleRequest, type OpenCertificate } from './agent-http.js'
import type { AgentSession } from './agent-session.js'
import { closeCodes } from './close-codes.js'
import { createDesiredSender } from './desired-sender.js'
import { InvalidationDelivery } from './invalidation-delivery.js'
import { startLinkCheck, startSilenceCheck } from './link-check.js'
import { createLiveness } from './liveness.js'
import type { SessionParts } from './session-parts.js'
import { createUpgrades, type Upgrades } from './upgrades.js'
import type { Loop } from '../../runtime/loop.js'

export interface GatewayOptions {
  /** docs/behaviour.md, Agent link. */
  readonly helloTimeoutMs?: number
  readonly openCertificate?: OpenCertificate
}

/** How long a hint may take to arrive. */
const hintGraceMs = 500

const live = { kind: 'watch', forMs: watchForMs } as const

export class AgentGateway {
  /** For GET /agent/v1/sources/{sha} and /agent/v1/certificates/{sha}, and PUT /agent/v1/answers/{sequence}; the body must not have been read. */
  readonly handleRequest: HandleRequest
  readonly #parts: SessionParts
  readonly #upgrades: Upgrades
  readonly #loops: readonly Pick<Loop, 'close'>[]
  readonly #subscriptions: readonly Subscription[]

  constructor(service: StateService, log: Logger, options: GatewayOptions = {}) {
    const { bus, settings } = service
    const sessions = new Map<number, AgentSession>()
    const sender = createDesiredSender(service, log, (state, traceId, write) => {
      sessions.get(state.agentId)?.offer(state, traceId, write)
    })
    const revoke = (agentIds: readonly number[]): void => {
      for (const agentId of agentIds)
        sessions.get(agentId)?.end(closeCodes.refused, 'this agent was deleted or taken over')
    }
    const heartbeats = createHeartbeatRecorder(service, log, {
      recorded: (agents) => {
        this.#settle(agents, revoke)
      },
      gone: revoke,
    })
    const parts = {
      service,
      log,
      sessions,
      registrar: createRegistrar(service),
      sender,
      heartbeats,
      reports: createReportRecorder(service, log, (agents) => {
        heartbeats.noteWritten(agents)
      }),
      samples: createSampleRecorder(service),
      backends: createBackendRecorder(service, log),
      adopter: createAdopter(service, log, (agentId) => sessions.has(agentId)),
      delivery: new InvalidationDelivery(service, log),
      helloTimeoutMs: options.helloTimeoutMs ?? 10_000,
    }
    const limits = createLoginLimits(service, 'agents')
    this.#parts = parts
    this.#upgrades = createUpgrades(parts, limits)
    const openCertificate = options.openCertificate ?? (() => Promise.resolve(undefined))
    this.handleRequest = createAgentHttp({ ...parts, limits, openCertificate })
    this.#loops = [
      startSilenceCheck(log, settings.heartbeatMs, sessions),
      createLiveness(service, log, () => heartbeats.flush()),
      sender,
      ...(bus.isShared ? [startLinkCheck(service, log, sessions)] : []),
    ]
    this.#subscriptions = [
      bus.subscribe(desiredChangedSubject, ({ agentIds, traceId }) => {
        const linked = agentIds.filter((agentId) => sessions.has(agentId))
        sender.request(linked, traceId ?? null)
      }),
      bus.subscribe(agentRevokedSubject, ({ agentIds }) => {
        revoke(agentIds)
      }),
      bus.subscribe(agentDrainedSubject, ({ agentIds, draining }) => {
        for (const agentId of agentIds) sessions.get(agentId)?.sendDraining(draining)
      }),
      bus.subscribe(agentWatchSubject, ({ agentIds }) => {
        for (const agentId of agentIds) sessions.get(agentId)?.sendOrder(live)
      }),
      bus.subscribe(rolloutObserveSubject, ({ agentIds, order }) => {
        for (const agentId of agentIds)
          sessions.get(agentId)?.sendOrder({ kind: 'observe', ...order })
      }),
      bus.subscribe(logOrderSubject, ({ orders }) => {
        for (const order of orders) sessions.get(order.agentId)?.sendLogOrder(order)
      }),
    ]
  }

  /** Number of agents connected to this process. */
  get sessionCount(): number {
    return this.#parts.sessions.size
  }

  /** For the HTTP server's 'upgrade' event. Responds to every request, including other paths (404). */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    void this.#upgrades.handle(request, socket, head) // catches all
  }

  /** Runs after each write of heartbeats: ends links of deleted or taken-over agents and sends outdated agents their desired state. */
  #settle(agents: readonly RecordedAgent[], revoke: (agentIds: readonly number[]) => void): void {
    const { sessions, sender } = this.#parts
    const behind: number[] = []
    for (const agent of agents) {
      const session = sessions.get(agent.id)
      if (!session) continue
      if (session.keyDigest !== agent.keyDigest) revoke([agent.id])
      else {
        session.sendDraining(agent.isDraining === 1)
        if (session.needsApply(agent)) behind.push(agent.id)
      }
    }
    if (behind.length === 0) return
    // The hint may still arrive and carries the trace id of the call that made the change.
    setTimeout(() => {
      sender.request(behind, null)
    }, hintGraceMs).unref()
  }

  /** Ends the sessions and writes their last conditions. */
  async close(): Promise<void> {
    const { sessions, adopter, delivery, heartbeats, reports, backends } = this.#parts
    const greeting = this.#upgrades.close()
    const loops = this.#loops.map((loop) => loop.close())
    for (const subscription of this.#subscriptions) subscription.close()
    for (const session of [...sessions.values(), ...greeting])
      session.end(closeCodes.goingAway, 'the coordinator stops')
    await Promise.all(loops)
    await adopter.close()
    await delivery.close()
    await heartbeats.close()
    await reports.close()
    await backends.close()
  }
}
