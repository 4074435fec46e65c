/** What a coordinator says. */
import { Type } from 'typebox'
import {
  flag,
  list,
  orAbsent,
  orNull,
  sha256,
  shortText,
  text,
  whole,
  type Fitting,
  type FittingOne,
} from '../resources/json-fields.js'
import { compileBudget } from '../vcl/compile-limits.js'
import { desiredEngine } from '../vcl/desired-engine.js'
import { desiredHealth } from '../vcl/engine-settings.js'
import { entriesMost } from './agent-to-coordinator.js'
import { envelope } from './envelope.js'
import { logOrder, topQuestion, type LogOrder } from './live-log.js'
import { observe, type ObserveOrder } from './observations.js'
import { testOrder } from './vcl-test.js'

/** What of a cache's standing its coordinator knows: whether requests should go to it (docs/behaviour.md, Health of a cache). */
const standing = Type.Object({
  ...envelope('standing'),
  draining: flag,
  /** It missed invalidations and has not caught up. */
  behind: flag,
})

/** The answer to hello. */
const welcome = Type.Object({
  ...envelope('welcome'),
  agentId: whole(1),
  coordinatorId: shortText,
  heartbeatMs: whole(1),
  /** Between samples of the counters; absent from a coordinator of an earlier version: none are wanted. */
  statsIntervalMs: orAbsent(whole(1)),
  /** Whether samples may have series of groups and domains; absent from a coordinator of an earlier version. */
  takesFigures: orAbsent(flag),
  /** Absent from a coordinator of an earlier version. */
  ...{ draining: orAbsent(flag), behind: orAbsent(flag) },
  /** The revision that this coordinator wants; the agent locks itself when it holds a higher one. */
  revision: whole(0),
})
export type Welcome = Fitting<typeof welcome>

/** Make the cache hold this. May be repeated; a repeated one changes nothing. */
const apply = Type.Object({ ...envelope('apply'), revision: whole(0), desired: desiredEngine })

/** Read-only questions, each answered with its own shape. */
const queryName = Type.Enum(['vcls', 'params', 'backends', 'bans', 'panic'])
export type QueryName = Fitting<typeof queryName>

/** What another coordinator process may ask the holder of the session, without its envelope. */
export const questions = {
  query: Type.Object({ kind: Type.Literal('query'), query: queryName }),
  /** One line of the allowed reading commands, sent to the engine as it is. */
  command: Type.Object({ kind: Type.Literal('command'), line: text }),
  /** Set a parameter now, and say what the engine thinks of it. What was taken becomes desired next. */
  setParam: Type.Object({
    kind: Type.Literal('setParam'),
    name: text,
    /** Null: back to the default. */
    value: orNull(text),
  }),
  /** Set the health of a backend now, in each VCL of ours that is meant. */
  setHealth: Type.Object({ kind: Type.Literal('setHealth'), ...desiredHealth.properties }),
  /** Find out whether the cache would take this source, and tell what the compiler says. */
  compile: Type.Object({
    kind: Type.Literal('compile'),
    /** Of the flattened text, fetched like any source. */
    sha: sha256,
    /** Also run vcl_init. Absent: false. */
    init: orAbsent(flag),
    /** Present where an organization asks on an agent that is not its own. */
    budget: orAbsent(compileBudget),
  }),
  /** Give the VCL that the cache runs, so that it is adopted. */
  showRunning: Type.Object({ kind: Type.Literal('showRunning') }),
  /** An administrator confirmed: take this coordinator's word from now on. */
  unlock: Type.Object({ kind: Type.Literal('unlock') }),
  top: topQuestion,
  test: testOrder,
}
export type Question = FittingOne<typeof questions>
export type Asking<Kind extends Question['kind']> = Extract<Question, { readonly kind: Kind }>

const purgeRequest = Type.Object({
  host: text,
  path: text,
  /** Of the group that is asked; null: a root group's VCL asks for none. */
  secret: orNull(text),
})
export type PurgeRequest = Fitting<typeof purgeRequest>

const purgeOrder = Type.Object({
  method: text,
  headers: Type.Unsafe<Readonly<Record<string, string>>>(
    Type.Object({}, { additionalProperties: text }),
  ),
  requests: list(purgeRequest, entriesMost),
})
export type PurgeOrder = Fitting<typeof purgeOrder>

const banOrder = Type.Object({
  /** In their order; field, operator and value of each term. */
  expressions: list(list(Type.Tuple([text, text, text]), entriesMost), entriesMost),
  /** Of each expression one ban for each of these groups' objects; null: for all objects. */
  groups: desiredHealth.properties.groups,
})
export type BanOrder = Fitting<typeof banOrder>

const invalidationOrder = Type.Object({
  position: whole(1),
  /** How old it is: a cache that started later and kept nothing has nothing that it could mean. */
  ageMs: whole(0),
  /** One of the two. */
  ban: orNull(banOrder),
  purge: orNull(purgeOrder),
})
export type InvalidationOrder = Fitting<typeof invalidationOrder>

/** The next entries of the invalidation log for this agent, in their order; answered by `invalidated`. */
const invalidate = Type.Object({
  ...envelope('invalidate'),
  /**
   * The position before the first of these; what does not follow what was sent last is dropped: it was sent before the
   * coordinator heard of a fault.
   */
  after: whole(0),
  /** Forget what was sent before and is not done: it comes again from here. */
  isRestart: flag,
  entries: list(invalidationOrder, entriesMost),
})
export type Invalidate = Fitting<typeof invalidate>

const instructions = {
  apply,
  query: Type.Object({ ...envelope('query'), ...questions.query.properties }),
  command: Type.Object({ ...envelope('command'), ...questions.command.properties }),
  setParam: Type.Object({ ...envelope('setParam'), ...questions.setParam.properties }),
  setHealth: Type.Object({ ...envelope('setHealth'), ...questions.setHealth.properties }),
  compile: Type.Object({ ...envelope('compile'), ...questions.compile.properties }),
  showRunning: Type.Object(envelope('showRunning')),
  unlock: Type.Object(envelope('unlock')),
  top: Type.Object({ ...envelope('top'), ...questions.top.properties }),
  test: Type.Object({ ...envelope('test'), ...questions.test.properties }),
}
export type Instruction = FittingOne<typeof instructions>

/** A live subscription: send samples every second for so long. Renewed before that is over; 0 ends it. */
const watch = Type.Object({ ...envelope('watch'), forMs: whole(0, 600_000) })
/** What is answered by a stream, for so long. */
export type WatchOrder =
  | Pick<Fitting<typeof watch>, 'kind' | 'forMs'>
  | ({ readonly kind: 'observe' } & ObserveOrder)
  | Pick<LogOrder, 'kind' | 'stream' | 'forMs' | 'wanted'>

export const coordinatorMessages = {
  welcome,
  ...instructions,
  reportFullState: Type.Object(envelope('reportFullState')),
  invalidate,
  log: logOrder,
  observe,
  /** Sent when it differs from what was sent last. */
  standing,
  watch,
}
export type CoordinatorToAgent = FittingOne<typeof coordinatorMessages>
