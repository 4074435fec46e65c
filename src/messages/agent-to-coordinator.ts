/** Messages from the agent to the coordinator. */
import { Type } from 'typebox'
import { engineStates } from '../resources/agent-state.js'
import type { Capability } from '../resources/capability.js'
import {
  finite,
  flag,
  list,
  matching,
  named,
  orAbsent,
  orNull,
  sha256,
  shortText,
  text,
  whole,
  type Fitting,
  type FittingOne,
} from '../resources/json-fields.js'
import { findAgentNameProblem, findNameProblem, linkedAgentNameLimit } from '../resources/names.js'
import { reportedCertificates } from '../vcl/desired-certificates.js'
import { maxPrograms } from '../vcl/desired-engine.js'
import { heldCache } from '../vcl/held-cache.js'
import { servedVcls } from './backend-health.js'
import { envelope } from './envelope.js'
import { logEnded, logLines } from './live-log.js'
import { observed } from './observations.js'

/** An agent usually has a handful. */
const maxTags = 256
/** More than the entries sent ahead to an agent, and than the members of an entry. */
export const maxEntries = 1_000
/** A cache has about 400 counters, some for each backend, and 26 figures of each of 140 groups and domains. */
const maxCounters = 6_000

/** The part of the state that changes between heartbeats. */
const engineCondition = Type.Object({
  engineState: Type.Enum(engineStates),
  /** Why the cache is not running or not answering, in one line. */
  engineError: orNull(text),
  /** The newest revision received; 0 before the first. */
  heldRevision: whole(0),
  /** The newest revision that the cache was seen to satisfy; 0 before the first. */
  effectiveRevision: whole(0),
  /** Why the agent refuses changes: by its coordinator id or its revision this is another coordinator or an older one. */
  lockedBecause: orNull(text),
  /** The PID of the cache's manager process; a new PID means that the cache was restarted. Null or absent: not known. */
  cachePid: Type.Optional(orNull(whole(0))),
})
export type EngineCondition = Fitting<typeof engineCondition>

const engineDescription = Type.Object({
  /** Where the cache serves clients. */
  host: shortText,
  port: whole(0, 65_535),
  /** From the banner; absent from an agent of an earlier version. */
  product: orAbsent(shortText),
  /** From the banner; empty until the cache was reached. */
  version: shortText,
  /** From the banner too; absent from an agent of an earlier version. */
  revision: orAbsent(shortText),
  /** The cache's `-n` working directory, if known. */
  workingDirectory: orNull(shortText),
})

/** Everything the coordinator must know about an agent; sent in hello, and when it requests the full state. */
const agentDescription = Type.Object({
  name: named((name) => findAgentNameProblem(name, linkedAgentNameLimit)),
  agentVersion: matching(/^\d{1,6}\.\d{1,6}\.\d{1,6}(?:[-+][\w.+-]{1,64})?$/, 'a version'),
  /** A newer agent may send capabilities that are unknown here; only the known ones are kept. */
  capabilities: Type.Unsafe<readonly Capability[]>(
    list(matching(/^[A-Za-z-]{1,32}$/, 'a word'), 32),
  ),
  /** Static tags, from the agent's own settings. */
  tags: list(named(findNameProblem), maxTags),
  /** The coordinator that the agent obeys; null before its first enrolment. */
  coordinatorId: orNull(shortText),
  /** The digest of the key that the agent generated; the key itself is sent only as a credential. */
  keyDigest: sha256,
  /** Present while the cache's running VCL is to be adopted and was not yet; `ready` once the cache can be asked for it. */
  adoption: orAbsent(Type.Enum(['waiting', 'ready'])),
  /** With `adoption`: the VCL group shared by hosts with the same text; absent: each host gets its own group. */
  adoptGroup: orAbsent(named(findNameProblem)),
  /** Present while the agent is locked and its cache was read: the state that an unlock starts from. */
  held: orAbsent(heldCache),
  /** The host name of the agent and its cache; absent from an agent of an earlier version. */
  hostName: orAbsent(shortText),
  /** Why the cache's log cannot be read, if that can be fixed on the host; absent: it can be read, or there is no log. */
  logTrouble: orAbsent(text),
  engine: engineDescription,
  condition: engineCondition,
})
export type AgentDescription = Fitting<typeof agentDescription>

const programFailure = Type.Object({
  /** The name of the VCL on the cache, by which the coordinator finds its deploy. */
  program: text,
  /** The cache's error, unabridged. */
  error: text,
})
export type ProgramFailure = Fitting<typeof programFailure>

/** The result of an `apply`. Sent exactly once per instruction; the newest revision wins. */
const applyReport = Type.Object({
  ...envelope('applyReport'),
  /** The sequence of the instruction that it answers. */
  instruction: whole(1),
  revision: whole(0),
  /** `applied`: the cache holds all of it. `failed`: something could not be loaded or set; the rest is done. `refused`: not tried. */
  result: Type.Enum(['applied', 'failed', 'refused']),
  /** With `applied`: the settings that the cache refuses. */
  error: orNull(text),
  /** Programs of this revision that are now loaded (and warmed up). */
  loaded: list(text, maxPrograms),
  failures: list(programFailure, maxPrograms),
  /**
   * With `failed`: the connection to the cache was lost, a source was unavailable or the state could not be saved. VCLs that are
   * neither loaded nor failures are undecided: the agent continues by itself.
   */
  interrupted: orAbsent(flag),
  /** With `interrupted`: programs that a problem of this host kept from loading. Absent from an agent of an earlier version. */
  postponed: orAbsent(list(programFailure, maxPrograms)),
  /** Whether anything was changed on the cache. */
  changed: flag,
  /**
   * The VCLs that now serve, as the cache lists them: the active VCL and the labelled ones. Absent when the cache could not be
   * read at the end, and from an agent of an earlier version.
   */
  serving: orAbsent(list(text, maxPrograms)),
  /** One for each desired certificate. Absent when the cache could not be read at the end, and from an agent of an earlier version. */
  certificates: orAbsent(reportedCertificates),
})
export type ApplyReport = Fitting<typeof applyReport>

/** The answer to a question such as `query` or `command`: the cache's response. */
const answer = Type.Object({
  ...envelope('answer'),
  instruction: whole(1),
  result: Type.Enum(['done', 'failed', 'refused']),
  /** Its shape depends on the query; null when the result is not `done`, or when the value was sent by PUT because of its size. */
  value: Type.Unknown(),
  sentByPut: flag,
  error: orNull(text),
})
export type Answer = Fitting<typeof answer>

/** A change from outside that the agent undid. */
const drift = Type.Object({
  at: shortText,
  foreign: list(text, maxPrograms),
  action: text,
  healedAt: orNull(shortText),
})
export type Drift = Fitting<typeof drift>

const invalidationResult = Type.Object({
  position: whole(1),
  result: Type.Enum(['done', 'failed']),
  /** With `failed`: the cache's refusal. With `done`: what is uncertain about the result. */
  error: orNull(shortText),
})
export type InvalidationResult = Fitting<typeof invalidationResult>

/** The results of `invalidate` entries, in their order. */
const invalidated = Type.Object({
  ...envelope('invalidated'),
  results: list(invalidationResult, maxEntries),
  /** The entry after the last result could not be completed; it and all later ones are dropped and requested again. */
  trouble: orNull(shortText),
})
export type Invalidated = Fitting<typeof invalidated>

/** Counters of the cache, at the interval in the welcome. */
const samples = Type.Object({
  ...envelope('samples'),
  /** When they were read, in epoch milliseconds of the agent's clock. */
  at: whole(0),
  /** Requested by `watch`, between the regular samples: shown, but not archived. */
  live: flag,
  /** The names of the values, in their order; sent in the first samples of a link and whenever the set changes. */
  names: orAbsent(list(shortText, maxCounters)),
  /** A counter as events per second since the previous samples, a gauge as it is; null: not known. */
  values: list(orNull(finite), maxCounters),
})
export type Samples = Fitting<typeof samples>

/** The health of the cache's backends: sent as a whole after each change and on each new link. */
const backends = Type.Object({ ...envelope('backends'), vcls: servedVcls })
export const agentMessages = {
  hello: Type.Object({ ...envelope('hello'), ...agentDescription.properties }),
  /** The answer to reportFullState. */
  fullState: Type.Object({ ...envelope('fullState'), ...agentDescription.properties }),
  heartbeat: Type.Object({ ...envelope('heartbeat'), condition: engineCondition }),
  applyReport,
  answer,
  drift: Type.Object({ ...envelope('drift'), drift }),
  invalidated,
  samples,
  backends,
  logLines,
  logEnded,
  observed,
}
export type AgentToCoordinator = FittingOne<typeof agentMessages>
export type Hello = Fitting<typeof agentMessages.hello>
export type FullState = Fitting<typeof agentMessages.fullState>
