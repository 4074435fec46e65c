/** The one table from an error's kind to the controller's status, and the error body. */
import type { ErrorKind } from '../../errors.js'
import type { ErrorContext } from '../http/api.js'
import { describeRefusal } from '../http/refusals.js'
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

// A Basic challenge, at the login too, would make browsers ask for a password before the page can.
const rules = { statusOfKind, challenge: 'Bearer realm="cachefleet"' }

export function describeError(error: unknown, { context, errorKey }: ErrorContext): Answer {
  const { traceId } = context
  const refusal = describeRefusal(error, context, rules)
  if (!refusal) return { status: 500, body: { traceId, errorKey, errorMsg: 'internal error' } }
  const { status, headers } = refusal
  const { errorKey: scope, message, rolloutId } = refusal.error
  const rollout = rolloutId === undefined ? undefined : { rollout: { id: rolloutId } }
  const body = { traceId, errorKey: scope, errorMsg: message, ...rollout }
  // An unknown path may be meant for the console, whose errors have a message.
  const isUnknownPath = status === 404 && scope === 'path'
  return { status, body: isUnknownPath ? { ...body, message } : body, headers }
}
