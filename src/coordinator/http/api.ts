/** What an API provides to the HTTP server: its routes, authentication, error bodies, and an observer of its answers. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Context } from '../../context.js'
import type { Actor } from '../../resources/permission.js'
import type { ErrorKey } from '../../errors.js'
import type { Answer, CallNote, Route } from './route.js'

export interface Api {
  /** Label in the metrics. */
  readonly name: string
  /** Prefix of every path: `/api/v1`, or empty. */
  readonly prefix: string
  /** Unknown paths below it are refused by this API; defaults to `prefix`. */
  readonly prefixes?: readonly string[]
  readonly routes: readonly Route[]
  /**
   * Identifies the caller; throws FleetError 'unauthenticated'. Null: the API has public routes only, and its unknown paths
   * are 404 for every caller.
   */
  readonly authenticate: ((caller: Caller) => Promise<Actor>) | null
  /** Rejects with FleetError if no call is served now. Callers are authenticated, their permissions not yet checked. */
  readonly admit?: () => Promise<void>
  /** Headers of every answer. */
  readonly readHeaders?: () => Promise<Readonly<Record<string, string>>>
  readonly describeError: (error: unknown, about: ErrorContext) => Answer
  /** Serves GET of some paths without a route; all others are 404. */
  readonly fallback?: Fallback
  /** Called once per call when its answer was sent or the caller disconnected. Must not throw. */
  readonly onAnswered?: (call: AnsweredCall) => void
}

export interface Fallback {
  readonly route: Route
  /** `path` is without the query. */
  readonly leadsHere: (path: string, headers: IncomingHttpHeaders) => boolean
}

export interface Caller {
  readonly headers: IncomingHttpHeaders
  readonly sourceAddress: string
  readonly secure: boolean
  readonly method: string
}

export interface ErrorContext {
  readonly context: Context
  /** The route's error key, for errors that are bugs. */
  readonly errorKey: ErrorKey
}

export interface AnsweredCall {
  readonly context: Context
  /** Null until the caller is known. */
  readonly actor: Actor | null
  /** Notes of the handler. */
  readonly note: CallNote
  readonly caller: Caller
  /** Null for an unknown path or method. */
  readonly route: Route | null
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** 0 if the caller disconnected before an answer. */
  readonly status: number
  readonly answer: Answer | null
  /** Message of the error response, else null. */
  readonly error: unknown
  /** The `{id}` of the path. */
  readonly objectId: number | null
  readonly durationSeconds: number
}
