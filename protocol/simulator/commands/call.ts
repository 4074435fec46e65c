/** The context of one command in a simulated engine. */
import type { CommandTable } from '../command-table.js'
import type { EngineState } from '../engine-state.js'
import type { ReplyText } from '../reply-text.js'

/** The secret's bytes; null without authentication; `missing` for a file that cannot be opened. */
export type EngineSecret = Buffer | null | 'missing'

/** The manager's state of the connection that sent the request. */
export interface Caller {
  isAuthenticated: boolean
  /** Empty once it has been answered. */
  challenge: string
  readonly secret: EngineSecret
}

export interface Occasion {
  readonly caller: Caller
  readonly nowMs: number
  /** Returns the pid of a new child. */
  readonly nextPid: () => number
}

export interface Call extends Occasion {
  readonly engine: EngineState
  /** All commands of the release. */
  readonly commands: CommandTable
  /** The process that executes the command. */
  readonly side: 'manager' | 'child'
  /** All words including the command's name, as JSON replies repeat them. */
  readonly words: readonly string[]
  /** The words after the name and a leading `-j`. */
  readonly args: readonly string[]
  readonly isJson: boolean
  readonly reply: ReplyText
}

export type AnswerCall = (call: Call) => void

/** Thrown by a command that kills the child. */
export class ChildPanic extends Error {
  override readonly name = 'ChildPanic'
}
