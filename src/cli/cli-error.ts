/** Exit codes (docs/behaviour.md, Exit codes) and the client's only error type; any other thrown value is a bug. */
import type { Fields } from './api-shapes.js'

export const exitCodes = {
  done: 0,
  /** Refused, fewer agents than min, or no connection. */
  refused: 1,
  usage: 2,
  /** `apply --plan`: there are changes to apply. */
  changes: 2,
  /** The wait ended: every deployment reached its min, but `percent` was not reached. */
  partial: 3,
  /** The wait ended below min while work continues. */
  unfinished: 4,
  /** Authentication or permission. */
  denied: 5,
  /** Ctrl-C. */
  interrupted: 130,
} as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The API's refusal, or the failure of a call that got no response. */
export interface Refusal {
  /** 0: no response from the API. */
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
 * An error for a call that failed without a response. It keeps its trace id, because the coordinator or a proxy may have logged the call. A
 * failure before any call has no trace id, since no log could contain it.
 */
export function unanswered(errorMsg: string, traceId: string | undefined): CliError {
  if (traceId === undefined) return new CliError(exitCodes.refused, errorMsg)
  const body = { traceId, errorKey: 'client', errorMsg }
  return new CliError(exitCodes.refused, errorMsg, { status: 0, body })
}

/** docs/behaviour.md, Errors: VCL does not compile. */
const compilerStatus = 422

/**
 * Returns one line, with the trace id if there is one, or the error body with `--json` (docs/behaviour.md, Output). Compiler messages keep
 * their line breaks.
 */
export function describeError(error: unknown, json: boolean): string {
  const message = error instanceof Error ? error.message : String(error)
  const refusal = error instanceof CliError ? error.refusal : null
  const isUsage = error instanceof CliError && error.exitCode === exitCodes.usage
  if (json && !isUsage)
    return JSON.stringify(refusal?.body ?? { errorKey: 'client', errorMsg: message })
  const traceId = refusal?.body['traceId']
  // A cache explains in two lines why it refuses a parameter.
  const isOneLine = refusal !== null && refusal.status !== compilerStatus
  const text = isOneLine ? joinLines(message) : message
  return `cachefleet: ${text}${typeof traceId === 'string' ? ` (trace ${traceId})` : ''}`
}

function joinLines(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').join(' ')
}
