/**
 * The bus's port: carries hints and instructions between coordinator processes. At most once; values are cloned, and are
 * what JSON can say, but for the bytes that a request or its answer may have.
 */

/** A request or an answer with bytes, which are neither printed nor copied within a process: nobody changes them afterwards. */
export interface WithBytes {
  readonly bytes: Buffer
}

export function hasBytes(value: unknown): value is WithBytes {
  return (
    typeof value === 'object' && value !== null && 'bytes' in value && Buffer.isBuffer(value.bytes)
  )
}

export interface Subscription {
  close(): void
}

export interface Bus {
  /** Other processes may be at its other ends; false: this coordinator is the only one of its store. */
  readonly isShared: boolean
  publish(subject: string, value: unknown): void
  subscribe(subject: string, receive: (value: unknown) => void): Subscription
  /** Answers requests on a subject; one responder a subject. */
  respond(subject: string, answer: (value: unknown) => Promise<unknown>): Subscription
  /**
   * Rejects with FleetError 'unavailable' when nobody responds (key 'agent') or when the bus is away (key 'store'),
   * 'timed-out' after `timeoutMs`.
   */
  request(subject: string, value: unknown, timeoutMs: number): Promise<unknown>
  /** Rejects when the bus is not connected. */
  check(): Promise<void>
  close(): Promise<void>
}

/** The session of an agent answers instructions here. */
export const instructionSubject = (agentId: number): string => `agent.${agentId}.instruction`
/**
 * The session of an agent takes a large answer here that came by PUT to another process: `{sequence}` asks whether it is
 * waited for, `{sequence, bytes}` gives it. Answered with whether it was.
 */
export const largeAnswerSubject = (agentId: number): string => `agent.${agentId}.answer`
/** The session of an agent answers here whether its link lives: `{alive}`. */
export const linkSubject = (agentId: number): string => `agent.${agentId}.link`
/** A hint that rows of these agents changed: state, report, tags, drift. The value is `{agentIds}`. */
export const agentChangedSubject = 'agent.changed'
/** A hint that the desired state of these agents changed: their sessions send it. The value is `{agentIds, traceId}`. */
export const desiredChangedSubject = 'agent.desired'
/** The credentials of agents were revoked: their sessions end. The value is `{agentIds}`. */
export const agentRevokedSubject = 'agent.revoked'
/** A session, an account or an organization changed what tokens are worth: caches forget. The value is `{}`. */
export const credentialsChangedSubject = 'credentials.changed'
/**
 * Logins failed, or one succeeded: all coordinators count guesses together. The value is `{origin, failed: [key]}` or
 * `{origin, forgiven: key}`.
 */
export const loginAttemptSubject = 'login.attempt'
/** Tags, deployments or groups changed what placement follows. The value is `{}`. */
export const placementInputsSubject = 'placement.inputs'
/** Something was written that is told as events; whoever gets it first tells them. The value is `{}`. */
export const changesSubject = 'changes'
/** There are new events: whoever has listeners reads them. The value is `{}`. */
export const eventsSubject = 'events'
/**
 * A hint that the invalidation log has new entries: sessions deliver them. The value is `{dropped: [id], isRetry}`: entries
 * that are not to be delivered any more, and whether those that wait after a fault shall be tried at once.
 */
export const invalidationsLoggedSubject = 'invalidation.logged'
/** A hint that entries ended: who waits for them looks again. The value is `{ids}`. */
export const invalidationsEndedSubject = 'invalidation.ended'
/** Somebody looks at these agents: their sessions ask for live samples. The value is `{agentIds}`. */
export const agentWatchSubject = 'agent.watch'
/** Live samples of an agent, for whoever looks: `{agentId, at, names, values}`. */
export const liveSampleSubject = (agentId: number): string => `agent.${agentId}.sample`
