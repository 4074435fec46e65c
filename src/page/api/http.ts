/** One raw exchange with the controller API: no session, no retry. */
import { isFromCoordinator, noteAnswer, noteSilence } from './connection.js'

export interface CallError {
  /** 0: no answer arrived. */
  readonly status: number
  readonly errorKey: string
  readonly errorMsg: string
  /** Empty: no answer arrived. */
  readonly traceId: string
  /** Null: the response has no `Retry-After`. */
  readonly retryAfterSeconds: number | null
  /** For a deploy: its own rollout, or the rollout that blocks it. */
  readonly rolloutId?: number
}

export type Outcome<T> =
  | {
      readonly ok: true
      readonly value: T
      /** Sent back as `ifMatch`. */
      readonly etag: string | null
      /** For a list: the number of rows without `take`. */
      readonly total: number | null
    }
  | { readonly ok: false; readonly error: CallError }

export interface CallOptions {
  readonly body?: unknown
  /** ETag of the object as it was read; the API answers 412 if it has changed since. */
  readonly ifMatch?: string | null
  /** Aborted when the user leaves the view (the outcome is then unused) or after a time limit. */
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export const apiBase = '/api/v1'

export async function sendOnce(
  method: Method,
  path: string,
  options: CallOptions & { readonly token: string | null; readonly keepalive?: boolean },
): Promise<Response | CallError> {
  const { body, ifMatch, signal, token, keepalive = false } = options
  const headers: Record<string, string> = { ...options.headers }
  if (token !== null) headers['authorization'] = `Bearer ${token}`
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (ifMatch != null) headers['if-match'] = ifMatch
  try {
    const answer = await fetch(apiBase + path, {
      method,
      headers,
      keepalive,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })
    if (isFromCoordinator(answer)) noteAnswer()
    else noteSilence()
    return answer
  } catch (error) {
    // A request that the page abandons does not mean that the coordinator is unreachable; one that times out does.
    if (!(error instanceof DOMException && error.name === 'AbortError')) noteSilence()
    return noAnswer
  }
}

export async function readOutcome<T>(answer: Response): Promise<Outcome<T>> {
  try {
    if (!answer.ok) return { ok: false, error: await readError(answer) }
    const text = await answer.text()
    const total = answer.headers.get('x-total-count')
    return {
      ok: true,
      value: (text === '' ? undefined : JSON.parse(text)) as T, // the type that the API documentation promises
      etag: answer.headers.get('etag'),
      total: total === null ? null : Number(total),
    }
  } catch {
    return { ok: false, error: noAnswer }
  }
}

/** Also reads error responses that come from a proxy, not from the API. */
async function readError(answer: Response): Promise<CallError> {
  const body: unknown = await answer.json().catch(() => null)
  const read = (key: string): string => {
    const value: unknown = isObject(body) && Reflect.get(body, key)
    return typeof value === 'string' ? value : ''
  }
  const retryAfter = Number(answer.headers.get('retry-after') ?? NaN)
  const rolloutId = readRolloutId(body)
  return {
    status: answer.status,
    errorKey: read('errorKey'),
    errorMsg: read('errorMsg') || `the coordinator answered ${answer.status}`,
    traceId: read('traceId') || (answer.headers.get('x-trace-id') ?? ''),
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
    ...(rolloutId !== null && { rolloutId }),
  }
}

/** Reads the rollout id from any response of a group action; null: it has none. */
export function readRolloutId(body: unknown): number | null {
  const rollout: unknown = isObject(body) ? Reflect.get(body, 'rollout') : null
  const id: unknown = isObject(rollout) ? Reflect.get(rollout, 'id') : null
  return typeof id === 'number' ? id : null
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

const noAnswer: CallError = {
  status: 0,
  errorKey: '',
  errorMsg: "Can't reach the coordinator. Your caches keep serving.",
  traceId: '',
  retryAfterSeconds: null,
}

/** Builds the error of a request that is not sent because it is already known to be invalid. */
export function refuse(errorMsg: string): CallError {
  return { status: 0, errorKey: '', errorMsg, traceId: '', retryAfterSeconds: null }
}
