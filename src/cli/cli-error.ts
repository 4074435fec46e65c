/** Exit codes (docs/behaviour.md, Exit codes), and the one error type of the client; anything else that is thrown is a bug. */
import type { Fields } from './api-shapes.js'

export const exitCodes = {
  done: 0,
  /** Refused, fewer than min, or no connection. */
  refused: 1,
  usage: 2,
  /** `apply --plan`: there is something to do. */
  changes: 2,
  /** The wait ended: every deployment has its min, `percent` was not reached. */
  partial: 3,
  /** The wait ended below min with work still running. */
  unfinished: 4,
  /** Authentication or permission. */
  denied: 5,
  /** Ctrl-C. */
  interrupted: 130,
} as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** What the API refused with, or what became of a call that it did not answer. */
export interface Refusal {
  /** 0: no answer of the API. */
  readonly status: number
  /** `{traceId, errorKey, errorMsg}`. */
  readonly body: Fields
}

export class CliError extends Error {
  override readonly name = 'CliError'

  constructor(
    readonly exitCode: ExitCode,
    message: string,
    readonly refusal: Refusal | null = null,
  ) {
    super(message)
  }
}

export function usageError(message: string): CliError {
  return new CliError(exitCodes.usage, message)
}

/**
 * A call that came to nothing. It keeps its trace id: the coordinator, or a proxy before it, may have logged it. What
 * fails before any call has none, since no log anywhere would know it.
 */
export function unanswered(errorMsg: string, traceId: string | undefined): CliError {
  if (traceId === undefined) return new CliError(exitCodes.refused, errorMsg)
  const body = { traceId, errorKey: 'client', errorMsg }
  return new CliError(exitCodes.refused, errorMsg, { status: 0, body })
}

/** docs/behaviour.md, Errors: VCL does not compile. */
const compilerStatus = 422

/**
 * One line, with the trace id when there is one; with `--json` the error body (docs/behaviour.md, Output). Compiler texts keep
 * their lines.
 */
export function describeError(error: unknown, json: boolean): string {
  const message = error instanceof Error ? error.message : String(error)
  const refusal = error instanceof CliError ? error.refusal : null
  const isUsage = error instanceof CliError && error.exitCode === exitCodes.usage
  if (json && !isUsage)
    return JSON.stringify(refusal?.body ?? { errorKey: 'client', errorMsg: message })
  const traceId = refusal?.body['traceId']
  // A cache says in two lines why it refuses a parameter.
  const isOneLine = refusal !== null && refusal.status !== compilerStatus
  const text = isOneLine ? joinLines(message) : message
  return `cachefleet: ${text}${typeof traceId === 'string' ? ` (trace ${traceId})` : ''}`
}

function joinLines(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').join(' ')
}
