/** Requests of the live log in API responses, and the kinds of top lists. */
import type { Reference } from './resource.js'

export const loggedFields = [
  ...(['at', 'agent', 'vclGroup', 'method', 'host', 'url', 'status', 'handling', 'bytes'] as const),
  ...(['ttfbMs', 'durationMs', 'backend', 'client', 'xid'] as const),
] as const
export type LoggedField = (typeof loggedFields)[number]

export const handlings = ['hit', 'miss', 'pass', 'pipe', 'synth'] as const
export type Handling = (typeof handlings)[number]

export interface LogRecord {
  readonly tag: string
  readonly text: string
}

/** A request, a restart of it, an ESI subrequest, or a fetch. */
export interface LoggedPart {
  readonly kind: 'request' | 'fetch'
  readonly xid: number
  /** The part that caused it; for a client's request, its session. */
  readonly parentXid: number
  /** The cache's term: `rxreq`, `restart`, `esi`, `fetch`, `pass`, `bgfetch`, `pipe`. */
  readonly reason: string
  readonly records: readonly LogRecord[]
}

/** A `transaction` of `GET /logs`. */
export interface LoggedRequest {
  readonly at: string
  readonly agent: Reference
  /** Null: no group, or one that the reader may not see. */
  readonly vclGroup: Reference | null
  readonly method: string
  readonly host: string
  readonly url: string
  readonly status: number
  readonly handling: Handling
  readonly bytes: number
  /** Null: nothing was sent. */
  readonly ttfbMs: number | null
  readonly durationMs: number | null
  /** `-`: no backend was used. */
  readonly backend: string
  readonly client: string
  readonly xid: number
  /** With `detail=true`. */
  readonly records?: readonly LoggedPart[]
  /** With `records`: how many exceeded the limit of one request. */
  readonly recordsLeftOut?: number
}

export const topKinds = [
  ...(['url', 'host', 'status', 'backend', 'missUrl', 'slowUrl', 'bytes'] as const),
] as const
export type TopKind = (typeof topKinds)[number]

/** An entry of `GET /top`. */
export interface TopEntry {
  readonly key: string
  /** Requests; bytes for the kind `bytes`. */
  readonly count: number
  readonly share: number
  /** The count may be too high by at most this. */
  readonly error: number
}
