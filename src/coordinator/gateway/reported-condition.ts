/** Records the condition an agent reports, and derives whether invalidations may be sent to it. */
import { catchingUp } from '../../resources/agent-state.js'
import type { Capability } from '../../resources/capability.js'
import type { EngineCondition } from '../../messages/agent-to-coordinator.js'
import type { SessionParts } from './session-parts.js'
import { SentStanding, type Standing } from './sent-standing.js'

/** An agent that has not caught up is Failing: its cache may serve objects that should have been removed. */
const catchesUp = { engineState: 'unknown', engineError: catchingUp } as const

export class ReportedCondition {
  readonly standing: SentStanding
  readonly #parts: Pick<SessionParts, 'heartbeats' | 'delivery'>
  #agentId = 0
  #readOnly = true
  #canInvalidate = false
  #canReadLog = false
  #hasHealth = false
  #newest: EngineCondition | null = null

  constructor(
    parts: Pick<SessionParts, 'heartbeats' | 'delivery'>,
    send: (standing: Standing) => void,
  ) {
    this.#parts = parts
    this.standing = new SentStanding((standing) => {
      if (this.#hasHealth) send(standing)
    })
  }

  begin(agentId: number, capabilities: readonly Capability[]): void {
    this.#agentId = agentId
    this.setCapabilities(capabilities)
  }

  setCapabilities(capabilities: readonly Capability[]): void {
    this.#readOnly = !capabilities.includes('deploy')
    this.#canInvalidate = capabilities.includes('invalidate')
    this.#canReadLog = capabilities.includes('log')
    this.#hasHealth = capabilities.includes('health')
  }

  /** Null before the session is live. */
  get newest(): EngineCondition | null {
    return this.#newest
  }

  get isLocked(): boolean {
    return this.#newest !== null && this.#newest.lockedBecause !== null
  }

  get mayBeChanged(): boolean {
    return !this.#readOnly && this.#newest?.lockedBecause === null
  }

  get mayInvalidate(): boolean {
    return this.#canInvalidate && this.#newest?.lockedBecause === null
  }

  get mayReadLog(): boolean {
    return this.#canReadLog
  }

  /** Sent with the welcome; later changes go only to agents that answer load balancers, others do not know the message. */
  beginStanding(draining: boolean): Standing {
    const standing = { draining, behind: this.#parts.delivery.isBehind(this.#agentId) }
    this.standing.begin(standing)
    return standing
  }

  learn(condition: EngineCondition): void {
    const before = this.#newest
    this.#newest = condition
    const isBack = condition.engineState === 'running' && before?.engineState !== 'running'
    if (isBack || before?.lockedBecause !== condition.lockedBecause)
      this.#parts.delivery.wake(this.#agentId, isBack)
    this.record()
  }

  /** Called when a report says that the agent holds this revision. */
  learnApplied(revision: number): void {
    if (!this.#newest) return
    this.#newest = { ...this.#newest, heldRevision: revision, effectiveRevision: revision }
    this.record(true)
  }

  record(isReported = false): void {
    const condition = this.#newest
    if (!condition) return
    const { heartbeats, delivery } = this.#parts
    const behind = delivery.isBehind(this.#agentId)
    this.standing.update({ behind })
    const isBehind = condition.engineState === 'running' && behind
    heartbeats.record(
      { agentId: this.#agentId, readOnly: this.#readOnly },
      isBehind ? { ...condition, ...catchesUp } : condition,
      isReported,
    )
  }
}
