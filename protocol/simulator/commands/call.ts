/** One command on its way through a simulated engine. */
import type { EngineState } from '../engine-state.js'
import type { ReplyText } from '../reply-text.js'

export interface Call {
  readonly engine: EngineState
  /** All words, the command's name first, as the JSON answers repeat them. */
  readonly words: readonly string[]
  /** The words behind the name, and behind a first `-j`. */
  readonly args: readonly string[]
  readonly isJson: boolean
  readonly reply: ReplyText
  readonly nowMs: number
  /** Pids for a new child. */
  readonly nextPid: () => number
}

export type AnswerCall = (call: Call) => void
