/** What is refused of a path itself, and what every error body needs to know of an error. */
import type { Context } from '../../context.js'
import { FleetError, type ErrorKind } from '../../errors.js'

/** 405, answered with `Allow`: the one error that is about HTTP itself. */
export class MethodNotAllowed extends FleetError {
  /** `allow`: the header's value. */
  constructor(readonly allow: string) {
    super('not-found', 'method', `this path does not take the method; it takes ${allow}`)
  }
}

export function nothingHere(): FleetError {
  return new FleetError('not-found', 'path', 'there is nothing at this path')
}

interface ErrorRules {
  readonly statusOfKind: Readonly<Record<ErrorKind, number>>
  /** How a caller logs in: `Bearer realm="…"`. */
  readonly challenge: string
}

/** Null: a bug, logged whole here and answered without detail. */
export function describeRefusal(
  error: unknown,
  { log }: Context,
  rules: ErrorRules,
): { readonly error: FleetError; readonly status: number; readonly headers: Headers } | null {
  if (!(error instanceof FleetError)) {
    log.error({ err: error }, 'internal error')
    return null
  }
  if (error.cause !== undefined) log.warn({ err: error.cause }, error.message)
  const status = error instanceof MethodNotAllowed ? 405 : rules.statusOfKind[error.kind]
  return { error, status, headers: headersOf(error, rules) }
}

type Headers = Readonly<Record<string, string>>

function headersOf(error: FleetError, { challenge }: ErrorRules): Headers {
  if (error instanceof MethodNotAllowed) return { allow: error.allow }
  if (error.kind === 'unauthenticated') return { 'www-authenticate': challenge }
  if (error.retryAfterSeconds === undefined) return {}
  return { 'retry-after': String(Math.max(1, Math.ceil(error.retryAfterSeconds))) }
}
