/** What a coordinator says. */
import type { CompileBudget } from '../vcl/compile-limits.js'
import type { DesiredEngine } from '../vcl/desired-engine.js'
import type { BackendHealth } from '../vcl/engine-settings.js'
import type { Envelope } from './envelope.js'

/** The answer to hello. */
export interface Welcome extends Envelope {
  readonly kind: 'welcome'
  readonly agentId: number
  readonly coordinatorId: string
  readonly heartbeatMs: number
  /** Between samples of the counters; absent from a coordinator of an earlier version: none are wanted. */
  readonly statsIntervalMs?: number | undefined
  /** The revision that this coordinator wants; the agent locks itself when it holds a higher one. */
  readonly revision: number
}

/** Make the cache hold this. May be repeated; a repeated one changes nothing. */
export interface Apply extends Envelope {
  readonly kind: 'apply'
  readonly revision: number
  readonly desired: DesiredEngine
}

/** Read-only questions, each answered with its own shape. */
export type QueryName = 'vcls' | 'params' | 'backends' | 'bans' | 'panic'

export interface Query extends Envelope {
  readonly kind: 'query'
  readonly query: QueryName
}

/** One line of the allowed reading commands, sent to the engine as it is. */
export interface EngineCommand extends Envelope {
  readonly kind: 'command'
  readonly line: string
}

/** Set a parameter now, and say what the engine thinks of it; answered by ParamAnswer. What was taken becomes desired next. */
export interface SetParam extends Envelope {
  readonly kind: 'setParam'
  readonly name: string
  /** Null: back to the default. */
  readonly value: string | null
}

/** The members of the specification's Parameter set: all four are texts, as the cache prints them. */
export interface Parameter {
  readonly value: string
  readonly default: string
  readonly unit: string
  readonly description: string
}

export interface ParamAnswer {
  /** The engine's words, whole; null: it was set. */
  readonly refusal: string | null
  /** What the engine remarks, such as that a change takes effect later; mostly empty. */
  readonly note: string
  /** As it is now; null when it was refused. */
  readonly parameter: Parameter | null
}

/** Set the health of a backend now, in each VCL of ours that is meant; answered by HealthAnswer. */
export interface SetHealth extends Envelope {
  readonly kind: 'setHealth'
  /** The name in VCL. */
  readonly backend: string
  /** Null: in every VCL of ours. */
  readonly groups: readonly number[] | null
  readonly health: BackendHealth
}

export interface HealthAnswer {
  /** As above. */
  readonly refusal: string | null
  /** What was set, as `<VCL>.<backend>`; empty: no VCL that is meant has such a backend. */
  readonly backends: readonly string[]
}

/** Find out whether the cache would take this source, and tell what the compiler says; answered by CompileAnswer. */
export interface Compile extends Envelope {
  readonly kind: 'compile'
  /** SHA-256 (hex) of the flattened text, fetched like any source. */
  readonly sha: string
  /** Also run vcl_init. Absent: false. */
  readonly init?: boolean | undefined
  /** Present where an organization asks on an agent that is not its own. */
  readonly budget?: CompileBudget | undefined
}

export interface CompileAnswer {
  /** The engine's words, whole, or why it was not compiled; null: it compiles. */
  readonly error: string | null
  /** It was not compiled: the budget is used up, or a compile of the organization runs. */
  readonly retryAfterSeconds?: number | undefined
  /** It was not compiled: this agent cannot do that for an organization. */
  readonly unavailable?: boolean | undefined
}

/** Give the VCL that the cache runs, so that it is adopted; answered by RunningVcl. */
export interface ShowRunning extends Envelope {
  readonly kind: 'showRunning'
}

export interface ReportFullState extends Envelope {
  readonly kind: 'reportFullState'
}

/** An administrator confirmed: take this coordinator's word from now on. */
export interface Unlock extends Envelope {
  readonly kind: 'unlock'
}

/** The next entries of the invalidation log for this agent, in their order; answered by `invalidated`. */
export interface Invalidate extends Envelope {
  readonly kind: 'invalidate'
  /**
   * The position before the first of these; what does not follow what was sent last is dropped: it was sent before the
   * coordinator heard of a fault.
   */
  readonly after: number
  /** Forget what was sent before and is not done: it comes again from here. */
  readonly isRestart: boolean
  readonly entries: readonly InvalidationOrder[]
}

export interface InvalidationOrder {
  readonly position: number
  /** How old it is: a cache that started later and kept nothing has nothing that it could mean. */
  readonly ageMs: number
  /** One of the two. */
  readonly ban: BanOrder | null
  readonly purge: PurgeOrder | null
}

export interface BanOrder {
  /** In their order; field, operator and value of each term. */
  readonly expressions: readonly (readonly (readonly [string, string, string])[])[]
  /** Of each expression one ban for each of these groups' objects; null: for all objects. */
  readonly groups: readonly number[] | null
}

export interface PurgeOrder {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  /** `secret`: of the group that is asked; null: a root group's VCL asks for none. */
  readonly requests: readonly PurgeRequest[]
}

export interface PurgeRequest {
  readonly host: string
  readonly path: string
  readonly secret: string | null
}

/** Somebody looks: send live samples every second for so long. Said again before that is over; 0 ends it. */
export interface Watch extends Envelope {
  readonly kind: 'watch'
  readonly forMs: number
}

export type CoordinatorToAgent =
  | Welcome
  | Apply
  | Query
  | EngineCommand
  | SetParam
  | SetHealth
  | Compile
  | ShowRunning
  | ReportFullState
  | Unlock
  | Invalidate
  | Watch
/** What another coordinator process may ask the holder of the session to send. */
export type Instruction =
  Apply | Query | EngineCommand | SetParam | SetHealth | Compile | ShowRunning | Unlock
