/** Refusals of a path itself, and the translation of errors into response bodies. */
import type { Context } from '../../context.js'
import { FleetError, type ErrorKind } from '../../errors.js'

/** 405, sent with `Allow`: the only error about HTTP itself. */
export class MethodNotAllowed extends FleetError {
  /** `allow` is the value of the header. */
  constructor(readonly allow: string) {
    super('not-found', 'method', `this path does not take the method; it takes ${allow}`)
  }
}

export function nothingHere(): FleetError {
  return new FleetError('not-found', 'path', 'there is nothing at this path')
}

interface ErrorRules {
  readonly statusOfKind: Readonly<Record<ErrorKind, number>>
  /** Challenge for the caller: `Bearer realm="…"`. */
  readonly challenge: string
}

/** Returns null for a bug, which is logged in full here and answered without detail. */
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
