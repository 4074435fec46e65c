/** Maps an error's kind to the console's status, and composes its error body `{message}`. */
import type { ErrorKind } from '../../errors.js'
import type { ErrorContext } from '../http/api.js'
import { describeRefusal } from '../http/refusals.js'
import type { Answer } from '../http/route.js'

/** The specification's statuses first; the others are the controller's. A compile error is a malformed request here. */
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

const rules = { statusOfKind, challenge: 'Basic realm="cachefleet console"' }

export function describeConsoleError(error: unknown, { context }: ErrorContext): Answer {
  const refusal = describeRefusal(error, context, rules)
  if (!refusal)
    return { status: 500, body: { message: 'internal error; the log has it by the trace id' } }
  const { status, headers } = refusal
  return { status, body: { message: refusal.error.message }, headers }
}
