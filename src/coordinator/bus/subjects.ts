/** Hints and requests between coordinator processes. Hints may be lost: the rows are authoritative. */
import { Type } from 'typebox'
import { questions, type Question } from '../../messages/coordinator-to-agent.js'
import { loggedTransaction, wantedLog } from '../../messages/live-log.js'
import { observedParts, observeOrder } from '../../messages/observations.js'
import {
  flag,
  list,
  matching,
  orAbsent,
  orNull,
  text,
  whole,
  type Fitting,
} from '../../resources/json-fields.js'
import { hintSubject, ofAgent, requestSubject } from './bus.js'

const ids = Type.Array(whole(1))
const agents = Type.Object({ agentIds: ids })
const nothing = Type.Object({})

const bytes = Type.Optional(
  Type.Unsafe<Buffer>(
    Type.Refine(
      Type.Unknown(),
      (value) => Buffer.isBuffer(value),
      () => 'must be bytes',
    ),
  ),
)

const instructionRequest = Type.Object({
  question: Type.Unsafe<Question>(Type.Union(Object.values(questions))),
  traceId: text,
  timeoutMs: Type.Number(),
})
export type InstructionRequest = Fitting<typeof instructionRequest>

const instructionReply = Type.Object({
  /** `lost`: the link ended or did not accept the question. */
  result: Type.Enum(['done', 'failed', 'refused', 'timed-out', 'lost']),
  value: Type.Unknown(),
  error: orNull(text),
  /** Used instead of the value: validated JSON of a large one. */
  bytes,
})
export type InstructionReply = Fitting<typeof instructionReply>

/** The session of an agent answers instructions here. */
export const instructionSubject = ofAgent(
  requestSubject('agent.*.instruction', instructionRequest, instructionReply),
)

const offeredAnswer = Type.Object({ sequence: whole(1), bytes })
/** An answer received by PUT, possibly by another process; without bytes it asks whether the answer is expected. */
export type OfferedAnswer = Fitting<typeof offeredAnswer>

/** The session of an agent takes a large answer here. The reply says whether it is or was expected. */
export const largeAnswerSubject = ofAgent(
  requestSubject('agent.*.answer', offeredAnswer, Type.Boolean()),
)

/** The session of an agent answers here whether its link is alive. */
export const linkSubject = ofAgent(
  requestSubject('agent.*.link', nothing, Type.Object({ alive: Type.Literal(true) })),
)

/** Rows of these agents changed: state, report, tags, drift. */
export const agentChangedSubject = hintSubject('agent.changed', agents)
/** The desired state of these agents changed: their sessions send it. */
export const desiredChangedSubject = hintSubject(
  'agent.desired',
  Type.Object({ agentIds: ids, traceId: orAbsent(text) }),
)
/** The drain of these agents began or ended: their sessions notify them. */
export const agentDrainedSubject = hintSubject(
  'agent.drained',
  Type.Object({ agentIds: ids, draining: flag }),
)
/** The credentials of agents were revoked: their sessions end. */
export const agentRevokedSubject = hintSubject('agent.revoked', agents)
/** A session, an account or an organization changed the validity of tokens: caches are cleared. */
export const credentialsChangedSubject = hintSubject('credentials.changed', nothing)

const attempt = matching(/^[\w-]{22}$/, 'the digest of who tried')
/** Logins failed or succeeded: all coordinators count failures together. */
export const loginAttemptSubject = hintSubject(
  'login.attempt',
  Type.Object({ origin: text, failed: orAbsent(list(attempt, 2)), forgiven: orAbsent(attempt) }),
)

/** Tags, deployments or groups changed: placement must be reconciled. */
export const placementInputsSubject = hintSubject('placement.inputs', nothing)
/** Changes were written that become events; the first coordinator to receive the hint records them. */
export const changesSubject = hintSubject('changes', nothing)
/** Rollouts changed: waiting calls and the runner check them. */
export const rolloutsChangedSubject = hintSubject('rollouts.changed', Type.Object({ ids }))
/** Agents of running rollouts: their sessions ask them to observe. */
export const rolloutObserveSubject = hintSubject(
  'rollouts.observe',
  Type.Object({ agentIds: ids, order: observeOrder }),
)
/** Observations of one agent. */
export const rolloutObservedSubject = hintSubject(
  'rollouts.observed',
  Type.Object({ agentId: whole(1), ...observedParts }),
)
/** There are new events: coordinators with subscribers read them. */
export const eventsSubject = hintSubject('events', nothing)
/**
 * The invalidation log has new entries: sessions deliver them. `dropped` entries must not be delivered any more; with `isRetry`
 * agents that back off after a fault retry immediately.
 */
export const invalidationsLoggedSubject = hintSubject(
  'invalidation.logged',
  Type.Object({ dropped: ids, isRetry: orAbsent(flag) }),
)
/** Entries ended: waiting calls check them. */
export const invalidationsEndedSubject = hintSubject('invalidation.ended', Type.Object({ ids }))
/** These agents have a live subscription: their sessions ask for live samples. */
export const agentWatchSubject = hintSubject('agent.watch', agents)

const liveSample = Type.Object({
  agentId: whole(1),
  /** Milliseconds since 1970, by the clock of the coordinator that the agent is linked to. */
  at: Type.Number(),
  names: Type.Array(text),
  /** Events per second, or a level; null if unknown. */
  values: Type.Array(orNull(Type.Number())),
})
export type LiveSample = Fitting<typeof liveSample>
/** Live samples of an agent, for its subscribers. */
export const liveSampleSubject = ofAgent(hintSubject('agent.*.sample', liveSample))

const logOrder = Type.Object({
  agentId: whole(1),
  stream: text,
  forMs: whole(0),
  wanted: wantedLog,
})
export type LogOrderHint = Fitting<typeof logOrder>
/** Readers of the live log: the sessions of these agents forward the requests. */
export const logOrderSubject = hintSubject(
  'log.order',
  Type.Object({ orders: Type.Array(logOrder) }),
)

const logPart = Type.Object({
  agentId: whole(1),
  stream: text,
  transactions: Type.Array(loggedTransaction),
  dropped: whole(0),
  /** Why the agent cannot continue; null while it can. */
  ended: orNull(text),
})
export type LogPart = Fitting<typeof logPart>
/** Log records of an agent, for the readers of its streams. */
export const logPartSubject = ofAgent(hintSubject('agent.*.log', logPart))
