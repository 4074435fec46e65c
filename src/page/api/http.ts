/** One exchange with the controller API, as it is: no session, no second try. */
import { isFromCoordinator, noteAnswer, noteSilence } from './connection.js'

export interface CallError {
  /** 0: there was no answer. */
  readonly status: number
  readonly errorKey: string
  readonly errorMsg: string
  /** Empty: there was no answer. */
  readonly traceId: string
  /** Null: not given. */
  readonly retryAfterSeconds: number | null
  /** Of a deploy: the rollout that it was, or that is in its way. */
  readonly rolloutId?: number
}

export type Outcome<T> =
  | {
      readonly ok: true
      readonly value: T
      /** To send back as `ifMatch`. */
      readonly etag: string | null
      /** Of a list: how many there are without `take`. */
      readonly total: number | null
    }
  | { readonly ok: false; readonly error: CallError }

export interface CallOptions {
  readonly body?: unknown
  /** The ETag of what was read: 412 when somebody changed it since. */
  readonly ifMatch?: string | null
  /** Who left does not wait any more; the outcome is then of no use to anybody. */
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
  } catch {
    // Who left was not waiting for an answer.
    if (signal?.aborted !== true) noteSilence()
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
      value: (text === '' ? undefined : JSON.parse(text)) as T, // what the document promises
      etag: answer.headers.get('etag'),
      total: total === null ? null : Number(total),
    }
  } catch {
    return { ok: false, error: noAnswer }
  }
}

/** Also of an answer that is not the API's: a proxy's. */
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

/** Of any answer of a verb of a group; null: it bears none. */
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

/** Of what is not sent at all: what is wrong with it is known here. */
export function refuse(errorMsg: string): CallError {
  return { status: 0, errorKey: '', errorMsg, traceId: '', retryAfterSeconds: null }
}
