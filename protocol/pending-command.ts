/** A queued command of `connection.ts`. Hides the type of the result from the queue. */

import type { Command } from './command.js'
import type { ManagementPortError } from './errors.js'
import type { Reply } from './frame.js'

export interface Settle<Result> {
  readonly resolve: (result: Result) => void
  readonly reject: (error: Error) => void
}

interface PendingCommandOptions {
  /** Maximum number of commands in flight together with this one. */
  readonly window: number
  readonly timeoutMs: number
}

/** A class rather than a record of closures: one is created per command, on the hot path. */
export class PendingCommand<Result> {
  readonly window: number
  readonly timeoutMs: number
  readonly #command: Command<Result>
  readonly #settle: Settle<Result>

  constructor(command: Command<Result>, options: PendingCommandOptions, settle: Settle<Result>) {
    this.#command = command
    this.#settle = settle
    this.window = options.window
    this.timeoutMs = options.timeoutMs
  }

  get name(): string {
    return this.#command.name
  }

  get line(): string | Buffer {
    return this.#command.line
  }

  take(reply: Reply): void {
    let result: Result | Promise<Result>
    try {
      result = this.#command.parse(reply, this.#command.name)
    } catch (error) {
      this.#reject(error)
      return
    }
    if (result instanceof Promise)
      result.then(this.#settle.resolve, (error: unknown) => {
        this.#reject(error)
      })
    else this.#settle.resolve(result)
  }

  /** Parsers throw ManagementPortErrors; any other error is a bug and is passed to the caller unchanged. */
  #reject(error: unknown): void {
    this.#settle.reject(error instanceof Error ? error : new Error(String(error)))
  }

  fail(error: ManagementPortError): void {
    this.#settle.reject(error)
  }
}

/** The part of a command that the queue uses. */
export type AnyPendingCommand = Pick<
  PendingCommand<unknown>,
  'name' | 'line' | 'window' | 'timeoutMs' | 'take' | 'fail'
>
