/** What an agent says. */
import type { EngineState } from '../resources/agent-state.js'
import type { Capability } from '../resources/capability.js'
import type { HeldCache } from '../vcl/unlock-difference.js'
import type { Envelope } from './envelope.js'

/** Everything the coordinator must know of an agent; sent as hello and again when it asks for the full state. */
export interface AgentDescription {
  readonly name: string
  readonly agentVersion: string
  readonly capabilities: readonly Capability[]
  /** Static tags, from the agent's own settings. */
  readonly tags: readonly string[]
  /** The coordinator whose word the agent takes; null before its first enrolment. */
  readonly coordinatorId: string | null
  /** SHA-256 (hex) of the key the agent made for itself; the key itself is only ever sent as a credential. */
  readonly keyDigest: string
  /**
   * Present while the VCL that the cache runs shall be adopted and was not yet (choices: 1, --takeover): `ready` when the
   * cache can be asked for it.
   */
  readonly adoption?: 'waiting' | 'ready' | undefined
  /** Beside `adoption`: the VCL group that hosts with the same text share; absent: each has a group of its own. */
  readonly adoptGroup?: string | undefined
  /** Present while it is locked and its cache was seen: what an unlock begins with. */
  readonly held?: HeldCache | undefined
  /** Of the machine that the agent and its cache run on; absent from an agent of an earlier version. */
  readonly hostName?: string | undefined
  readonly engine: EngineDescription
  readonly condition: EngineCondition
}

export interface EngineDescription {
  /** Where the cache serves clients. */
  readonly host: string
  readonly port: number
  /** From the banner; empty until the cache was reached. */
  readonly version: string
  /** From the banner too; absent from an agent of an earlier version. */
  readonly revision?: string | undefined
  /** The cache's `-n` working directory, if known. */
  readonly workingDirectory: string | null
}

/** What changes from heartbeat to heartbeat. */
export interface EngineCondition {
  readonly engineState: EngineState
  /** Why the engine is not running or not answering, in one line. */
  readonly engineError: string | null
  /** The newest revision that was received; 0 before the first. */
  readonly heldRevision: number
  /** The newest revision that the cache was seen to satisfy; 0 before the first. */
  readonly effectiveRevision: number
  /** The agent refuses changes: its coordinator id or its revision says that this coordinator is another or older one. */
  readonly lockedBecause: string | null
  /** Of the cache's manager: another one is another life of the cache. Null or absent: not known. */
  readonly cachePid?: number | null
}

export interface Hello extends Envelope, AgentDescription {
  readonly kind: 'hello'
}

/** The answer to reportFullState. */
export interface FullState extends Envelope, AgentDescription {
  readonly kind: 'fullState'
}

export interface Heartbeat extends Envelope {
  readonly kind: 'heartbeat'
  readonly condition: EngineCondition
}

export interface ProgramFailure {
  /** The name of the VCL on the cache, so that the coordinator finds the deploy it belongs to. */
  readonly program: string
  /** The engine's words, whole. */
  readonly error: string
}

/** How an `apply` ended. Sent exactly once for each instruction; the newest revision wins. */
export interface ApplyReport extends Envelope {
  readonly kind: 'applyReport'
  /** The sequence of the instruction it answers. */
  readonly instruction: number
  readonly revision: number
  /** `applied`: the cache holds all of it. `failed`: something could not be loaded or set; the rest is done. `refused`: nothing was tried. */
  readonly result: 'applied' | 'failed' | 'refused'
  /** Of `applied`: the settings that the cache refuses. */
  readonly error: string | null
  /** Programs of this revision that are loaded (and warmed up) now. */
  readonly loaded: readonly string[]
  readonly failures: readonly ProgramFailure[]
  /**
   * Of `failed`: the cache was lost, a source was not to be had or the state could not be saved. That says nothing about
   * the VCLs that are neither loaded nor failures: the agent goes on by itself.
   */
  readonly interrupted?: boolean | undefined
  /** Of `interrupted`: what could not be loaded for a reason of this host. Absent from an agent of an earlier version. */
  readonly postponed?: readonly ProgramFailure[] | undefined
  /** Whether anything was changed on the cache. */
  readonly changed: boolean
  /**
   * What serves now, as the cache lists it: the active VCL and what labels stand for. Absent when the cache was not seen
   * at the end, and from an agent of an earlier version.
   */
  readonly serving?: readonly string[] | undefined
}

/** The answer to a `query` or a `command`: what the engine said. */
export interface Answer extends Envelope {
  readonly kind: 'answer'
  readonly instruction: number
  readonly result: 'done' | 'failed' | 'refused'
  /** Shape by query; null when the result is not `done`, or when it went by PUT because of its size. */
  readonly value: unknown
  readonly sentByPut: boolean
  readonly error: string | null
}

/** A foreign change that was undone (choices: 3, Drift). */
export interface Drift {
  readonly at: string
  readonly foreign: readonly string[]
  readonly action: string
  readonly healedAt: string | null
}

export interface DriftReport extends Envelope {
  readonly kind: 'drift'
  readonly drift: Drift
}

/** How entries of `invalidate` ended, in their order. */
export interface Invalidated extends Envelope {
  readonly kind: 'invalidated'
  readonly results: readonly InvalidationResult[]
  /** The entry behind the last result could not be tried to its end; it and all behind it are dropped, and wanted again. */
  readonly trouble: string | null
}

export interface InvalidationResult {
  readonly position: number
  readonly result: 'done' | 'failed'
  /** Of `failed` the cache's refusal; of `done` what is not certain about it. */
  readonly error: string | null
}

/** Counters of the cache, at the interval that the welcome named (choices: 7). */
export interface Samples extends Envelope {
  readonly kind: 'samples'
  /** When they were read: epoch milliseconds of the agent's clock. */
  readonly at: number
  /** Asked for by `watch`, between those of the interval: shown, and not archived. */
  readonly live: boolean
  /** What the values are, in their order; in the first samples of a link and whenever the set is another one. */
  readonly names?: readonly string[] | undefined
  /** A counter's events per second since the samples before, a gauge as it is; null: not known. */
  readonly values: readonly (number | null)[]
}

export type AgentToCoordinator =
  Hello | FullState | Heartbeat | ApplyReport | Answer | DriftReport | Invalidated | Samples
