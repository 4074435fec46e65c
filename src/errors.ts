/** The one error type for errors of callers and of the environment; anything else that is thrown is a bug. */

export type ErrorKind =
  | 'invalid' // 400
  | 'unauthenticated' // 401
  | 'unlicensed' // 402
  | 'forbidden' // 403
  | 'not-found' // 404
  | 'conflict' // 409
  | 'changed' // 412
  | 'too-large' // 413
  | 'unsupported-type' // 415
  | 'uncompilable' // 422
  | 'locked' // 423
  | 'limited' // 429
  | 'unavailable' // 503
  | 'timed-out' // 504

/** The scope of an error, `errorKey` in a response (docs/behaviour.md, Errors). */
export type ErrorKey =
  | 'agent'
  | 'tag'
  | 'file'
  | 'deployment'
  | 'domain'
  | 'vclgroup'
  | 'deploy'
  | 'invalidation'
  | 'certificate'
  | 'backend'
  | 'webhook'
  | 'rollout'
  | 'organization'
  | 'account'
  | 'user'
  | 'permission'
  | 'session'
  | 'idp'
  | 'jointoken'
  | 'apilog'
  | 'event'
  | 'log'
  | 'overview'
  | 'cache'
  | 'group'
  | 'vcl'
  | 'paramset'
  | 'message'
  | 'license'
  | 'auth'
  | 'body'
  | 'path'
  | 'method'
  | 'store'

interface ErrorDetail {
  /** Seconds until a retry makes sense; sent as Retry-After. */
  readonly retryAfterSeconds?: number
  /** The rollout of a deploy that switches in waves; `rollout {id}` in the response. */
  readonly rolloutId?: number
  readonly cause?: unknown
}

export class FleetError extends Error {
  override readonly name = 'FleetError'
  readonly retryAfterSeconds: number | undefined
  readonly rolloutId: number | undefined

  constructor(
    readonly kind: ErrorKind,
    readonly errorKey: ErrorKey,
    message: string,
    detail: ErrorDetail = {},
  ) {
    super(message, detail.cause === undefined ? {} : { cause: detail.cause })
    this.retryAfterSeconds = detail.retryAfterSeconds
    this.rolloutId = detail.rolloutId
  }
}
