/** What a coordinator says. */
import type { DesiredEngine } from '../domain/desired-engine.js'
import type { Envelope } from './envelope.js'

/** The answer to hello. */
export interface Welcome extends Envelope {
  readonly kind: 'welcome'
  readonly agentId: number
  readonly coordinatorId: string
  readonly heartbeatMs: number
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

/** Load this source beside what serves, tell what the compiler said, and discard it again; answered by CompileAnswer. */
export interface Compile extends Envelope {
  readonly kind: 'compile'
  /** SHA-256 (hex) of the flattened text, fetched like any source. */
  readonly sha: string
}

export interface CompileAnswer {
  /** The engine's words, whole; null: it compiles. */
  readonly error: string | null
}

export interface ReportFullState extends Envelope {
  readonly kind: 'reportFullState'
}

/** An administrator confirmed: take this coordinator's word from now on. */
export interface Unlock extends Envelope {
  readonly kind: 'unlock'
}

export type CoordinatorToAgent =
  Welcome | Apply | Query | EngineCommand | Compile | ReportFullState | Unlock
/** What another coordinator process may ask the holder of the session to send. */
export type Instruction = Apply | Query | EngineCommand | Compile | Unlock
