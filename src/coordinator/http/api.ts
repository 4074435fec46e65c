/** What an API gives the HTTP server: its routes, who may call, how errors look, who is told of the answers. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Context } from '../../context.js'
import type { Actor } from '../../resources/permission.js'
import type { ErrorKey } from '../../errors.js'
import type { Answer, CallNote, Route } from './route.js'

export interface Api {
  /** Its label in the metrics. */
  readonly name: string
  /** What every path begins with: `/api/v1`, or nothing. */
  readonly prefix: string
  /** Below which an unknown path is this API's to refuse; `prefix` unless given. */
  readonly prefixes?: readonly string[]
  readonly routes: readonly Route[]
  /**
   * Who calls; throws FleetError 'unauthenticated'. Null: the API has public routes only, and its unknown paths are
   * 404 for everybody.
   */
  readonly authenticate: ((caller: Caller) => Promise<Actor>) | null
  /** Rejects with FleetError when no call is served now; the callers are known, their rights were not checked. */
  readonly admit?: () => Promise<void>
  /** Headers of every answer. */
  readonly readHeaders?: () => Promise<Readonly<Record<string, string>>>
  readonly describeError: (error: unknown, about: ErrorContext) => Answer
  /** Answers a GET of some of the paths that no route has; others are 404. */
  readonly fallback?: Fallback
  /** Called once for each call when its answer has been sent or the caller is gone. Must not throw. */
  readonly onAnswered?: (call: AnsweredCall) => void
}

export interface Fallback {
  readonly route: Route
  /** `path`: without the query. */
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
  /** The route's, for errors that are bugs. */
  readonly errorKey: ErrorKey
}

export interface AnsweredCall {
  readonly context: Context
  /** Null before it was known. */
  readonly actor: Actor | null
  /** What its handler noted. */
  readonly note: CallNote
  readonly caller: Caller
  /** Null: an unknown path or method. */
  readonly route: Route | null
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** 0: the caller went away before an answer. */
  readonly status: number
  readonly answer: Answer | null
  /** What the answer told as an error; null: it was none. */
  readonly error: unknown
  /** The path's `{id}`. */
  readonly objectId: number | null
  readonly durationSeconds: number
}
