/** Messages from the coordinator to the agent. */
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
import { maxEntries } from './agent-to-coordinator.js'
import { envelope } from './envelope.js'
import { logOrder, topQuestion, type LogOrder } from './live-log.js'
import { observe, type ObserveOrder } from './observations.js'
import { testOrder } from './vcl-test.js'

/** The coordinator's part of a cache's health: whether requests should go to it (docs/behaviour.md, Health of a cache). */
const standing = Type.Object({
  ...envelope('standing'),
  draining: flag,
  /** The cache missed invalidations and has not caught up. */
  behind: flag,
})

/** The answer to hello. */
const welcome = Type.Object({
  ...envelope('welcome'),
  agentId: whole(1),
  coordinatorId: shortText,
  heartbeatMs: whole(1),
  /** The interval of counter samples; absent from a coordinator of an earlier version: send none. */
  statsIntervalMs: orAbsent(whole(1)),
  /** Whether samples may include series of groups and domains; absent from a coordinator of an earlier version. */
  takesFigures: orAbsent(flag),
  /** Absent from a coordinator of an earlier version. */
  draining: orAbsent(flag),
  behind: orAbsent(flag),
  /** The desired revision of this coordinator; the agent locks itself when it holds a higher one. */
  revision: whole(0),
})
export type Welcome = Fitting<typeof welcome>

/** Brings the cache to the desired state. Idempotent. */
const apply = Type.Object({ ...envelope('apply'), revision: whole(0), desired: desiredEngine })

/** Read-only queries; each has its own answer schema. */
const queryName = Type.Enum(['vcls', 'params', 'backends', 'bans', 'panic'])
export type QueryName = Fitting<typeof queryName>

/** Questions that another coordinator process may send to the holder of the session, without the envelope. */
export const questions = {
  query: Type.Object({ kind: Type.Literal('query'), query: queryName }),
  /** One of the allowed read-only commands, sent to the cache verbatim. */
  command: Type.Object({ kind: Type.Literal('command'), line: text }),
  /** Sets a parameter now and returns the cache's response. An accepted value then becomes desired. */
  setParam: Type.Object({
    kind: Type.Literal('setParam'),
    name: text,
    /** Null: reset to the default. */
    value: orNull(text),
  }),
  /** Sets the health of a backend now, in each selected managed VCL. */
  setHealth: Type.Object({ kind: Type.Literal('setHealth'), ...desiredHealth.properties }),
  /** Checks whether the cache accepts this source and returns the compiler's output. */
  compile: Type.Object({
    kind: Type.Literal('compile'),
    /** The digest of the flattened text, which is fetched like any source. */
    sha: sha256,
    /** Also run vcl_init. Absent: false. */
    init: orAbsent(flag),
    /** Present when the organization uses an agent that it does not own. */
    budget: orAbsent(compileBudget),
  }),
  /** Returns the cache's running VCL for adoption. */
  showRunning: Type.Object({ kind: Type.Literal('showRunning') }),
  /** An administrator confirmed that the agent shall obey this coordinator from now on. */
  unlock: Type.Object({ kind: Type.Literal('unlock') }),
  top: topQuestion,
  test: testOrder,
}
export type Question = FittingOne<typeof questions>
export type Asking<Kind extends Question['kind']> = Extract<Question, { readonly kind: Kind }>

const purgeRequest = Type.Object({
  host: text,
  path: text,
  /** The secret of the requested group; null: a root group's VCL requires none. */
  secret: orNull(text),
})
export type PurgeRequest = Fitting<typeof purgeRequest>

const purgeOrder = Type.Object({
  method: text,
  headers: Type.Unsafe<Readonly<Record<string, string>>>(
    Type.Object({}, { additionalProperties: text }),
  ),
  requests: list(purgeRequest, maxEntries),
})
export type PurgeOrder = Fitting<typeof purgeOrder>

const banOrder = Type.Object({
  /** In execution order; each term has field, operator and value. */
  expressions: list(list(Type.Tuple([text, text, text]), maxEntries), maxEntries),
  /** Each expression becomes one ban per group, limited to that group's objects; null: all objects. */
  groups: desiredHealth.properties.groups,
})
export type BanOrder = Fitting<typeof banOrder>

const invalidationOrder = Type.Object({
  position: whole(1),
  /** Its age: a cache that started later with empty storage has no objects to invalidate. */
  ageMs: whole(0),
  /** Exactly one of the two is set. */
  ban: orNull(banOrder),
  purge: orNull(purgeOrder),
})
export type InvalidationOrder = Fitting<typeof invalidationOrder>

/** The next entries of the invalidation log for this agent, in their order; answered by `invalidated`. */
const invalidate = Type.Object({
  ...envelope('invalidate'),
  /**
   * The position before the first entry. The agent drops entries that do not follow the last ones: the coordinator sent them
   * before it knew of a failure.
   */
  after: whole(0),
  /** Discard earlier entries that are not done: they are sent again from here. */
  isRestart: flag,
  entries: list(invalidationOrder, maxEntries),
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

/** A live subscription: send samples every second for `forMs`. Renewed before it expires; 0 ends it. */
const watch = Type.Object({ ...envelope('watch'), forMs: whole(0, 600_000) })
/** Orders answered by a stream for a limited time. */
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
  /** Sent when it differs from the last one sent. */
  standing,
  watch,
}
export type CoordinatorToAgent = FittingOne<typeof coordinatorMessages>
