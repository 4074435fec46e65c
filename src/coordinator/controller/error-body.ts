/** The one table from an error's kind to the controller's status, and the error body (choices: 2, Status codes). */
import { FleetError, type ErrorKind } from '../../errors.js'
import type { ErrorContext } from '../http/api.js'
import { MethodNotAllowed } from '../http/method-not-allowed.js'
import type { Answer } from '../http/route.js'

const statusOfKind: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  unlicensed: 402,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  changed: 412,
  'too-large': 413,
  'unsupported-type': 415,
  uncompilable: 422,
  locked: 423,
  limited: 429,
  unavailable: 503,
  'timed-out': 504,
}

/** Anything but a FleetError is a bug: logged whole here, answered without detail. */
export function describeError(error: unknown, { context, errorKey }: ErrorContext): Answer {
  const { traceId, log } = context
  if (!(error instanceof FleetError)) {
    log.error({ err: error }, 'internal error')
    return { status: 500, body: { traceId, errorKey, errorMsg: 'internal error' } }
  }
  if (error.cause !== undefined) log.warn({ err: error.cause }, error.message)
  const status = error instanceof MethodNotAllowed ? 405 : statusOfKind[error.kind]
  const body = { traceId, errorKey: error.errorKey, errorMsg: error.message }
  // An unknown path may be meant for the console, whose errors have a message.
  const isUnknownPath = status === 404 && error.errorKey === 'path'
  return {
    status,
    body: isUnknownPath ? { ...body, message: error.message } : body,
    headers: headersOf(error),
  }
}

function headersOf(error: FleetError): Readonly<Record<string, string>> {
  if (error instanceof MethodNotAllowed) return { allow: error.allow }
  // Also at the login: a Basic challenge would make browsers ask for a password before the page can.
  if (error.kind === 'unauthenticated') return { 'www-authenticate': 'Bearer realm="cachefleet"' }
  if (error.retryAfterSeconds === undefined) return {}
  return { 'retry-after': String(Math.max(1, Math.ceil(error.retryAfterSeconds))) }
}
