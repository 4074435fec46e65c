/** The one table from an error's kind to the console's status, and its error body `{message}` (choices: 6). */
import { FleetError, type ErrorKind } from '../../errors.js'
import type { ErrorContext } from '../http/api.js'
import { MethodNotAllowed } from '../http/method-not-allowed.js'
import type { Answer } from '../http/route.js'

/** The specification's statuses first; the others are the controller's. What does not compile is a malformed request here. */
const statusOfKind: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  uncompilable: 400,
  unauthenticated: 401,
  unlicensed: 402,
  forbidden: 403,
  'not-found': 404,
  'unsupported-type': 415,
  conflict: 409,
  changed: 409,
  locked: 409,
  'too-large': 413,
  limited: 429,
  unavailable: 503,
  'timed-out': 504,
}

/** Anything but a FleetError is a bug: logged whole here, answered without detail. */
export function describeConsoleError(error: unknown, { context: { log } }: ErrorContext): Answer {
  if (!(error instanceof FleetError)) {
    log.error({ err: error }, 'internal error')
    return { status: 500, body: { message: 'internal error; the log has it by the trace id' } }
  }
  if (error.cause !== undefined) log.warn({ err: error.cause }, error.message)
  const status = error instanceof MethodNotAllowed ? 405 : statusOfKind[error.kind]
  return { status, body: { message: error.message }, headers: headersOf(error) }
}

function headersOf(error: FleetError): Readonly<Record<string, string>> {
  if (error instanceof MethodNotAllowed) return { allow: error.allow }
  if (error.kind === 'unauthenticated')
    return { 'www-authenticate': 'Basic realm="cachefleet console"' }
  if (error.retryAfterSeconds === undefined) return {}
  return { 'retry-after': String(Math.max(1, Math.ceil(error.retryAfterSeconds))) }
}
