/** What an agent says. */
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
import { programsMost } from '../vcl/desired-engine.js'
import { heldCache } from '../vcl/held-cache.js'
import { servedVcls } from './backend-health.js'
import { envelope } from './envelope.js'
import { logEnded, logLines } from './live-log.js'
import { observed } from './observations.js'

/** An agent bears a handful. */
const tagsMost = 256
/** More than an agent is ever sent ahead, and than an entry has members. */
export const entriesMost = 1_000
/** A cache has about 400 counters, some for each backend, and 26 figures of each of 140 groups and domains. */
const countersMost = 6_000

/** What changes from heartbeat to heartbeat. */
const engineCondition = Type.Object({
  engineState: Type.Enum(engineStates),
  /** Why the engine is not running or not answering, in one line. */
  engineError: orNull(text),
  /** The newest revision that was received; 0 before the first. */
  heldRevision: whole(0),
  /** The newest revision that the cache was seen to satisfy; 0 before the first. */
  effectiveRevision: whole(0),
  /** The agent refuses changes: its coordinator id or its revision says that this coordinator is another or older one. */
  lockedBecause: orNull(text),
  /** Of the cache's manager: another one is another life of the cache. Null or absent: not known. */
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

/** Everything the coordinator must know of an agent; sent as hello and again when it asks for the full state. */
const agentDescription = Type.Object({
  name: named((name) => findAgentNameProblem(name, linkedAgentNameLimit)),
  agentVersion: matching(/^\d{1,6}\.\d{1,6}\.\d{1,6}(?:[-+][\w.+-]{1,64})?$/, 'a version'),
  /** A newer agent may have more than are known here; only the known ones are kept. */
  capabilities: Type.Unsafe<readonly Capability[]>(
    list(matching(/^[A-Za-z-]{1,32}$/, 'a word'), 32),
  ),
  /** Static tags, from the agent's own settings. */
  tags: list(named(findNameProblem), tagsMost),
  /** The coordinator whose word the agent takes; null before its first enrolment. */
  coordinatorId: orNull(shortText),
  /** Of the key the agent made for itself; the key itself is only ever sent as a credential. */
  keyDigest: sha256,
  /** Present while the VCL that the cache runs shall be adopted and was not yet: `ready` when the cache can be asked for it. */
  adoption: orAbsent(Type.Enum(['waiting', 'ready'])),
  /** Beside `adoption`: the VCL group that hosts with the same text share; absent: each has a group of its own. */
  adoptGroup: orAbsent(named(findNameProblem)),
  /** Present while it is locked and its cache was seen: what an unlock begins with. */
  held: orAbsent(heldCache),
  /** Of the machine that the agent and its cache run on; absent from an agent of an earlier version. */
  hostName: orAbsent(shortText),
  /** Why the cache's log cannot be read, where that can be mended on its host; absent: it can, or there is none to read. */
  logTrouble: orAbsent(text),
  engine: engineDescription,
  condition: engineCondition,
})
export type AgentDescription = Fitting<typeof agentDescription>

const programFailure = Type.Object({
  /** The name of the VCL on the cache, so that the coordinator finds the deploy it belongs to. */
  program: text,
  /** The engine's words, whole. */
  error: text,
})
export type ProgramFailure = Fitting<typeof programFailure>

/** How an `apply` ended. Sent exactly once for each instruction; the newest revision wins. */
const applyReport = Type.Object({
  ...envelope('applyReport'),
  /** The sequence of the instruction it answers. */
  instruction: whole(1),
  revision: whole(0),
  /** `applied`: the cache holds all of it. `failed`: something could not be loaded or set; the rest is done. `refused`: nothing was tried. */
  result: Type.Enum(['applied', 'failed', 'refused']),
  /** Of `applied`: the settings that the cache refuses. */
  error: orNull(text),
  /** Programs of this revision that are loaded (and warmed up) now. */
  loaded: list(text, programsMost),
  failures: list(programFailure, programsMost),
  /**
   * Of `failed`: the cache was lost, a source was not to be had or the state could not be saved. That says nothing about
   * the VCLs that are neither loaded nor failures: the agent goes on by itself.
   */
  interrupted: orAbsent(flag),
  /** Of `interrupted`: what could not be loaded for a reason of this host. Absent from an agent of an earlier version. */
  postponed: orAbsent(list(programFailure, programsMost)),
  /** Whether anything was changed on the cache. */
  changed: flag,
  /**
   * What serves now, as the cache lists it: the active VCL and what labels stand for. Absent when the cache was not seen
   * at the end, and from an agent of an earlier version.
   */
  serving: orAbsent(list(text, programsMost)),
  /** Of each that is desired. Absent when the cache was not seen at the end, and from an agent of an earlier version. */
  certificates: orAbsent(reportedCertificates),
})
export type ApplyReport = Fitting<typeof applyReport>

/** The answer to a `query` or a `command`: what the engine said. */
const answer = Type.Object({
  ...envelope('answer'),
  instruction: whole(1),
  result: Type.Enum(['done', 'failed', 'refused']),
  /** Shape by query; null when the result is not `done`, or when it went by PUT because of its size. */
  value: Type.Unknown(),
  sentByPut: flag,
  error: orNull(text),
})
export type Answer = Fitting<typeof answer>

/** A change by others that was undone. */
const drift = Type.Object({
  at: shortText,
  foreign: list(text, programsMost),
  action: text,
  healedAt: orNull(shortText),
})
export type Drift = Fitting<typeof drift>

const invalidationResult = Type.Object({
  position: whole(1),
  result: Type.Enum(['done', 'failed']),
  /** Of `failed` the cache's refusal; of `done` what is not certain about it. */
  error: orNull(shortText),
})
export type InvalidationResult = Fitting<typeof invalidationResult>

/** How entries of `invalidate` ended, in their order. */
const invalidated = Type.Object({
  ...envelope('invalidated'),
  results: list(invalidationResult, entriesMost),
  /** The entry behind the last result could not be tried to its end; it and all behind it are dropped, and wanted again. */
  trouble: orNull(shortText),
})
export type Invalidated = Fitting<typeof invalidated>

/** Counters of the cache, at the interval that the welcome named. */
const samples = Type.Object({
  ...envelope('samples'),
  /** When they were read: epoch milliseconds of the agent's clock. */
  at: whole(0),
  /** Asked for by `watch`, between those of the interval: shown, and not archived. */
  live: flag,
  /** What the values are, in their order; in the first samples of a link and whenever the set is another one. */
  names: orAbsent(list(shortText, countersMost)),
  /** A counter's events per second since the samples before, a gauge as it is; null: not known. */
  values: list(orNull(finite), countersMost),
})
export type Samples = Fitting<typeof samples>

/** What the cache thinks of its backends: all of it, when something of it changed and on each new link. */
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
