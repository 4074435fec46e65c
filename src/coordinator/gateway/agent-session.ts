/**
 * One agent's link from the upgrade to its end.
 *
 * ```mermaid
 * stateDiagram-v2
 *   [*] --> waiting: upgraded
 *   waiting --> greeting: hello
 *   waiting --> closed: no hello within 10 s
 *   greeting --> live: registered or recognized, its link claimed, welcome sent
 *   greeting --> closed: refused
 *   live --> closed: revoked, malformed message, silence, back-pressure, the agent left
 * ```
 */
import { randomUUID } from 'node:crypto'
import type { WebSocket } from 'ws'
import type { Subscription } from '../bus/bus.js'
import {
  instructionSubject,
  largeAnswerSubject,
  linkSubject,
  type InstructionReply,
  type InstructionRequest,
  type OfferedAnswer,
  type LogOrderHint,
} from '../bus/subjects.js'
import { createContext, newTraceId, type Context } from '../../context.js'
import type {
  AgentToCoordinator,
  ApplyReport,
  EngineCondition,
  FullState,
  Hello,
} from '../../messages/agent-to-coordinator.js'
import { MalformedMessage } from '../../messages/codec.js'
import type { WatchOrder } from '../../messages/coordinator-to-agent.js'
import { version } from '../../version.js'
import type { Credential } from '../registration/agent-credentials.js'
import type { DesiredState } from '../agents/agent-desired.js'
import { claimAgentLink, releaseAgentLink } from '../reports/agent-links.js'
import type { RegisteredAgent } from '../registration/described-agent.js'
import { recognizeAgent, updateDescription } from '../registration/registration.js'
import { isNewerMinor } from '../../resources/version-skew.js'
import type { WriteApply } from './apply-message.js'
import { needsApply, type KnownRevisions, type Offer } from './apply-offer.js'
import { closeCodes, toEnd } from './close-codes.js'
import { LinkSocket, type LinkReceiver } from './link-socket.js'
import type { Recipient } from './invalidation-delivery.js'
import { PendingAnswers } from './pending-answers.js'
import { ReceivedSequence } from './received-sequence.js'
import { ReportedCondition } from './reported-condition.js'
import { isReported, recordReported, type SessionParts } from './session-parts.js'

/** Messages that an agent may send between hello and welcome. */
const backlogLimit = 16

export class AgentSession implements LinkReceiver, Recipient {
  /** Identifies this link in the store. */
  readonly linkId = randomUUID()
  readonly #parts: SessionParts
  readonly #credential: Credential
  readonly #link: LinkSocket
  readonly #answers = new PendingAnswers((reason) => {
    this.end(closeCodes.protocolError, reason)
  })
  #helloTimer: NodeJS.Timeout | undefined
  readonly #backlog: AgentToCoordinator[] = []
  #phase: 'waiting' | 'greeting' | 'live' = 'waiting'
  #agent: RegisteredAgent | null = null
  #agentVersion = version
  readonly #condition: ReportedCondition
  #offer: Offer | null = null
  readonly #received = new ReceivedSequence()
  #subscriptions: readonly Subscription[] = []

  constructor(parts: SessionParts, socket: WebSocket, credential: Credential) {
    this.#parts = parts
    this.#credential = credential
    this.#link = new LinkSocket(socket, this)
    this.#condition = new ReportedCondition(parts, (standing) => {
      if (this.isLive) this.#link.send({ kind: 'standing', traceId: newTraceId(), ...standing })
    })
    this.#helloTimer = setTimeout(() => {
      this.end(closeCodes.protocolError, `no hello within ${parts.helloTimeoutMs} ms`)
    }, parts.helloTimeoutMs)
  }

  /** 0 until the agent is known. */
  get agentId(): number {
    return this.#agent?.agentId ?? 0
  }

  mayBeSent(): boolean {
    return this.isLive && this.#condition.mayInvalidate
  }

  send(message: Parameters<Recipient['send']>[0]): boolean {
    return this.#link.send(message) !== null
  }

  caughtUp(): void {
    this.#condition.record()
  }

  get isLive(): boolean {
    return this.#phase === 'live' && this.#link.isOpen
  }

  /** Digest of the key it connected with, or of the key it created. */
  get keyDigest(): string | null {
    return this.#agent?.keyDigest ?? null
  }

  /** Time of the last received data, by the monotonic clock. */
  get lastReceivedAtMs(): number {
    return this.#link.lastReceivedAtMs
  }

  end(code: number, reason: string): void {
    this.#link.end(code, reason)
  }

  cutOff(reason: string): void {
    this.#link.cutOff(reason)
  }

  /** True if the desired state should be sent now, according to the agent's row in the store. */
  needsApply(known: KnownRevisions): boolean {
    const condition = this.#condition.newest
    if (!this.isLive || !condition || !this.#condition.mayBeChanged) return false
    return needsApply(condition, this.#offer, known, performance.now())
  }

  /** Sends the desired state unless this revision was sent already. */
  offer(state: DesiredState, traceId: string, write: WriteApply): void {
    if (!this.needsApply(state)) return
    const { desiredRevision: revision } = state
    const { log } = this.#parts
    const times = this.#offer?.revision === revision ? this.#offer.times + 1 : 1
    this.#offer = { revision, sentAtMs: performance.now(), times, answer: null }
    try {
      this.#link.send(write(state, traceId))
      log.debug({ ...this.#names, traceId, revision }, 'desired state sent')
    } catch (error) {
      log.error({ ...this.#names, traceId, err: error }, 'a desired state cannot be sent')
    }
  }

  sendDraining(draining: boolean): void {
    this.#condition.standing.update({ draining })
  }

  /** Requests samples every second, or observations for a rollout, for a limited time. */
  sendOrder(order: WatchOrder): void {
    if (this.isLive) this.#link.send({ ...order, traceId: newTraceId() })
  }

  /** Requests the live log for one reader, for a limited time. */
  sendLogOrder({ stream, forMs, wanted }: LogOrderHint): void {
    if (this.#condition.mayReadLog) this.sendOrder({ kind: 'log', stream, forMs, wanted })
  }

  takeOffered(answer: OfferedAnswer): Promise<boolean> {
    return this.#answers.takeOffered(answer)
  }

  take(message: AgentToCoordinator): void {
    if (this.#phase === 'live') this.#handle(message)
    else if (this.#phase === 'greeting') {
      this.#backlog.push(message)
      if (this.#backlog.length > backlogLimit)
        throw new MalformedMessage('too many messages before welcome')
    } else {
      if (message.kind !== 'hello') throw new MalformedMessage('the first message is hello')
      clearTimeout(this.#helloTimer)
      this.#helloTimer = undefined
      this.#phase = 'greeting'
      this.#received.begin(message.sequence)
      void this.#greet(message) // catches all
    }
  }

  /** An agent of the next minor version may send fields that are unknown here (docs/behaviour.md, Versions). */
  ignores(): boolean {
    if (!this.isLive || !isNewerMinor(version, this.#agentVersion)) return false
    this.#received.skip()
    return true
  }

  left(reason: string, code: number): void {
    clearTimeout(this.#helloTimer)
    this.#parts.log.info({ ...this.#names, code, why: reason }, 'agent link ended')
    for (const subscription of this.#subscriptions) subscription.close()
    this.#answers.endAll(reason)
    if (!this.#agent) return
    const { agentId } = this.#agent
    this.#parts.sessions.delete(agentId)
    this.#parts.delivery.remove(this)
    this.#parts.heartbeats.forget(agentId)
    this.#parts.samples.forget(agentId)
    // A stopping coordinator announces this on the bus; one write per agent would only delay the stop.
    if (code !== closeCodes.goingAway)
      void releaseAgentLink(this.#parts.service, agentId, this.linkId) // never rejects
  }

  get #names(): { readonly agentId?: number; readonly agent: string } {
    const agent = this.#agent
    return agent ? { agentId: agent.agentId, agent: agent.name } : { agent: this.#credential.name }
  }

  async #greet(hello: Hello): Promise<void> {
    const { service, registrar, log } = this.#parts
    const context = createContext(log, hello.traceId)
    try {
      const agent =
        this.#credential.kind === 'joining'
          ? await registrar.register(context, this.#credential, hello)
          : await recognizeAgent(service, context, this.#credential, hello)
      if (!this.#link.isOpen || !(await this.#claim(agent))) return
      await this.#parts.delivery.add(this, agent)
      this.#enter(agent, hello, context)
    } catch (error) {
      const { code, reason } = toEnd(error)
      if (code === closeCodes.internalError)
        context.log.error({ err: error, agent: hello.name }, 'a hello could not be dealt with')
      this.end(code, reason)
    }
  }

  /** Returns true if this is now the agent's link; returns false and ends the link if the agent has another one. */
  async #claim(agent: RegisteredAgent): Promise<boolean> {
    const { service, sessions } = this.#parts
    const { agentId } = agent
    if (!sessions.has(agentId)) {
      this.#agent = agent
      sessions.set(agentId, this)
      this.#subscriptions = [
        service.bus.respond(linkSubject(agentId), () => this.#link.proveAlive()),
      ]
      if (await claimAgentLink(service, this.#credential, { agentId, linkId: this.linkId }))
        return this.#link.isOpen
    }
    this.end(closeCodes.linkedAlready, `agent ${agent.name} is linked already`)
    return false
  }

  #enter(agent: RegisteredAgent, hello: Hello, context: Context): void {
    if (!this.#link.isOpen) {
      this.#parts.delivery.remove(this)
      return
    }
    const { service, sender, adopter } = this.#parts
    const { agentId, desiredRevision: revision, draining } = agent
    this.#agentVersion = hello.agentVersion
    this.#condition.begin(agentId, hello.capabilities)
    this.#phase = 'live'
    this.#subscriptions = [
      ...this.#subscriptions,
      service.bus.respond(instructionSubject(agentId), (asked) => this.#ask(asked)),
      service.bus.respond(largeAnswerSubject(agentId), (offered) => this.takeOffered(offered)),
    ]
    const { heartbeatMs, statsIntervalMs } = service.settings
    const common = { agentId, coordinatorId: service.coordinatorId, revision }
    const wanted = { traceId: context.traceId, heartbeatMs, statsIntervalMs, takesFigures: true }
    const standing = this.#condition.beginStanding(draining)
    this.#link.send({ kind: 'welcome', ...common, ...wanted, ...standing })
    this.#learn({ ...hello.condition, lockedBecause: agent.lockedBecause })
    sender.request([agentId], null)
    adopter.consider(agentId, hello)
    const { agentVersion } = hello
    const what = agent.isNew ? 'agent enrolled and linked' : 'agent linked'
    context.log.info({ ...this.#names, agentVersion }, what)
    for (const message of this.#backlog.splice(0)) this.#handle(message)
  }

  #handle(message: AgentToCoordinator): void {
    if (!this.#agent || !this.isLive || !this.#isInSequence(message)) return
    if (isReported(message)) {
      recordReported(this.#parts, this.#agent, message)
      return
    }
    const { agentId } = this.#agent
    switch (message.kind) {
      case 'hello':
        this.end(closeCodes.protocolError, 'hello came twice')
        return
      case 'heartbeat':
        this.#learn(message.condition)
        return
      case 'fullState':
        void this.#takeFullState(agentId, message) // catches all
        return
      case 'applyReport':
        this.#takeReport(agentId, message)
        return
      case 'answer':
        this.#answers.answer(message)
        return
    }
  }

  /** Missing messages are replaced by the full state; repeated messages are ignored. */
  #isInSequence({ sequence }: AgentToCoordinator): boolean {
    const { isNew, missing } = this.#received.take(sequence)
    if (missing) {
      this.#parts.log.warn({ ...this.#names, ...missing }, 'messages are missing')
      this.#link.send({ kind: 'reportFullState', traceId: newTraceId() })
    }
    return isNew
  }

  #learn(condition: EngineCondition): void {
    // An unlocked agent receives its whole desired state again.
    if (this.#condition.isLocked) this.#offer = null
    this.#condition.learn(condition)
  }

  async #takeFullState(agentId: number, state: FullState): Promise<void> {
    const { service, log, adopter } = this.#parts
    this.#received.fullStateCame()
    this.#condition.setCapabilities(state.capabilities)
    this.#learn(state.condition)
    const context = createContext(log, state.traceId)
    try {
      await updateDescription(service, context, agentId, state)
      adopter.consider(agentId, state)
    } catch (error) {
      context.log.error({ err: error, agentId }, 'a full state could not be written')
    }
  }

  #takeReport(agentId: number, report: ApplyReport): void {
    const { revision, result, traceId } = report
    const { reports, log } = this.#parts
    reports.recordApply(agentId, report)
    log.debug({ ...this.#names, traceId, revision, result }, 'agent reported')
    if (this.#offer?.revision === revision)
      this.#offer = {
        ...this.#offer,
        answer: { atMs: performance.now(), isRefusal: result === 'refused' },
      }
    if (result === 'applied') this.#condition.learnApplied(revision)
  }

  #ask({ question, traceId, timeoutMs }: InstructionRequest): Promise<InstructionReply> {
    const sequence = this.#link.send({ ...question, traceId })
    this.#parts.log.info({ ...this.#names, traceId, kind: question.kind }, 'agent asked')
    return this.#answers.wait(sequence, { question, timeoutMs })
  }
}
