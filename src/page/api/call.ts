/** One call of the controller API. What goes wrong is a value: a view shows it, nothing is thrown. */
import { readAccessToken, renewAccess } from '../session/access.js'
import {
  readOutcome,
  sendOnce,
  type CallError,
  type CallOptions,
  type Method,
  type Outcome,
} from './http.js'

/** `path` below `/api/v1`, ids and names in it encoded. `T` is what the API's document promises of it. */
export async function call<T>(
  method: Method,
  path: string,
  options: CallOptions = {},
): Promise<Outcome<T>> {
  const answer = await send(method, path, options)
  return answer instanceof Response ? readOutcome<T>(answer) : { ok: false, error: answer }
}

/** With the access token, which is renewed once when it is not taken. For answers that are no JSON. */
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
