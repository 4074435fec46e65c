/** Hints and questions between coordinator processes. Hints may be lost: the rows are the truth. */
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
  /** `lost`: the link ended, or would not take the question. */
  result: Type.Enum(['done', 'failed', 'refused', 'timed-out', 'lost']),
  value: Type.Unknown(),
  error: orNull(text),
  /** In place of the value: JSON of a large one, which was judged. */
  bytes,
})
export type InstructionReply = Fitting<typeof instructionReply>

/** The session of an agent answers instructions here. */
export const instructionSubject = ofAgent(
  requestSubject('agent.*.instruction', instructionRequest, instructionReply),
)

const offeredAnswer = Type.Object({ sequence: whole(1), bytes })
/** Of an answer that came by PUT, maybe to another process; without bytes: is it waited for? */
export type OfferedAnswer = Fitting<typeof offeredAnswer>

/** The session of an agent takes a large answer here. Answered with whether it is, or was, waited for. */
export const largeAnswerSubject = ofAgent(
  requestSubject('agent.*.answer', offeredAnswer, Type.Boolean()),
)

/** The session of an agent answers here whether its link lives. */
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
/** These agents are drained, or no longer: their sessions tell them. */
export const agentDrainedSubject = hintSubject(
  'agent.drained',
  Type.Object({ agentIds: ids, draining: flag }),
)
/** The credentials of agents were revoked: their sessions end. */
export const agentRevokedSubject = hintSubject('agent.revoked', agents)
/** A session, an account or an organization changed what tokens are worth: caches forget. */
export const credentialsChangedSubject = hintSubject('credentials.changed', nothing)

const attempt = matching(/^[\w-]{22}$/, 'the digest of who tried')
/** Logins failed, or one succeeded: all coordinators count guesses together. */
export const loginAttemptSubject = hintSubject(
  'login.attempt',
  Type.Object({ origin: text, failed: orAbsent(list(attempt, 2)), forgiven: orAbsent(attempt) }),
)

/** Tags, deployments or groups changed what placement follows. */
export const placementInputsSubject = hintSubject('placement.inputs', nothing)
/** Something was written that becomes events; the first coordinator to get the hint records them. */
export const changesSubject = hintSubject('changes', nothing)
/** Rollouts moved on: those who wait for them, or move them, look again. */
export const rolloutsChangedSubject = hintSubject('rollouts.changed', Type.Object({ ids }))
/** Agents of rollouts that run: their sessions ask them to observe. */
export const rolloutObserveSubject = hintSubject(
  'rollouts.observe',
  Type.Object({ agentIds: ids, order: observeOrder }),
)
/** What one of them observed. */
export const rolloutObservedSubject = hintSubject(
  'rollouts.observed',
  Type.Object({ agentId: whole(1), ...observedParts }),
)
/** There are new events: whoever has listeners reads them. */
export const eventsSubject = hintSubject('events', nothing)
/**
 * The invalidation log has new entries: sessions deliver them. `dropped` are not to be delivered any more; `isRetry`: those that wait
 * after a fault shall be tried at once.
 */
export const invalidationsLoggedSubject = hintSubject(
  'invalidation.logged',
  Type.Object({ dropped: ids, isRetry: orAbsent(flag) }),
)
/** Entries ended: those who wait for them check again. */
export const invalidationsEndedSubject = hintSubject('invalidation.ended', Type.Object({ ids }))
/** These agents have a live subscription: their sessions ask for live samples. */
export const agentWatchSubject = hintSubject('agent.watch', agents)

const liveSample = Type.Object({
  agentId: whole(1),
  /** Milliseconds since 1970, by the clock of the coordinator that the agent is linked to. */
  at: Type.Number(),
  names: Type.Array(text),
  /** Events per second, or a level; null: not known. */
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
/** Readers of the live log: the sessions of these agents pass them on. */
export const logOrderSubject = hintSubject(
  'log.order',
  Type.Object({ orders: Type.Array(logOrder) }),
)

const logPart = Type.Object({
  agentId: whole(1),
  stream: text,
  transactions: Type.Array(loggedTransaction),
  dropped: whole(0),
  /** Why the agent cannot go on; null: it does. */
  ended: orNull(text),
})
export type LogPart = Fitting<typeof logPart>
/** What an agent's log told, for the readers of its streams. */
export const logPartSubject = ofAgent(hintSubject('agent.*.log', logPart))
