/** One call of the controller API. Errors are returned as values for the view to show; nothing is thrown. */
import { readAccessToken, renewAccess } from '../session/access.js'
import {
  readOutcome,
  sendOnce,
  type CallError,
  type CallOptions,
  type Method,
  type Outcome,
} from './http.js'

/** `path` is relative to `/api/v1`, with ids and names encoded. `T` is the type that the API documentation promises. */
export async function call<T>(
  method: Method,
  path: string,
  options: CallOptions = {},
): Promise<Outcome<T>> {
  const answer = await send(method, path, options)
  return answer instanceof Response ? readOutcome<T>(answer) : { ok: false, error: answer }
}

/** Sends the access token and renews it once after a 401. Used directly for responses that are not JSON. */
export async function send(
  method: Method,
  path: string,
  options: CallOptions = {},
): Promise<Response | CallError> {
  const token = readAccessToken()
  const answer = await sendOnce(method, path, { ...options, token })
  if (!(answer instanceof Response) || answer.status !== 401) return answer
  const renewed = await renewAccess(token)
  return renewed === null ? answer : sendOnce(method, path, { ...options, token: renewed })
}
