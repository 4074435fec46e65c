/** One command on its way through a simulated engine. */
import type { CommandTable } from '../command-table.js'
import type { EngineState } from '../engine-state.js'
import type { ReplyText } from '../reply-text.js'

/** The secret's bytes; null: no authentication; missing: a file that cannot be opened. */
export type EngineSecret = Buffer | null | 'missing'

/** What the manager knows about the connection a request came on. */
export interface Caller {
  isAuthenticated: boolean
  /** Empty after it was answered. */
  challenge: string
  readonly secret: EngineSecret
}

export interface Occasion {
  readonly caller: Caller
  readonly nowMs: number
  /** Pids for a new child. */
  readonly nextPid: () => number
}

export interface Call extends Occasion {
  readonly engine: EngineState
  /** All that the release has. */
  readonly commands: CommandTable
  /** Who answers: the child, or the manager before it. */
  readonly side: 'manager' | 'child'
  /** All words, the command's name first, as the JSON answers repeat them. */
  readonly words: readonly string[]
  /** The words behind the name, and behind a first `-j`. */
  readonly args: readonly string[]
  readonly isJson: boolean
  readonly reply: ReplyText
}

export type AnswerCall = (call: Call) => void

/** Thrown by what the child dies of. */
export class ChildPanic extends Error {
  override readonly name = 'ChildPanic'
}
