/** Requests of the live log, as they are answered, and what top lists count of them. */
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

/** A request, what VCL restarted of it, a part of its page, or a fetch. */
export interface LoggedPart {
  readonly kind: 'request' | 'fetch'
  readonly xid: number
  /** Of the part that it was made for; of a request that a client sent, its session. */
  readonly parentXid: number
  /** As the cache calls it: `rxreq`, `restart`, `esi`, `fetch`, `pass`, `bgfetch`, `pipe`. */
  readonly reason: string
  readonly records: readonly LogRecord[]
}

/** A `transaction` of `GET /logs`. */
export interface LoggedRequest {
  readonly at: string
  readonly agent: Reference
  /** Null: of no group, or of one that the reader does not see. */
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
  /** `-`: none was asked. */
  readonly backend: string
  readonly client: string
  readonly xid: number
  /** With `detail=true`. */
  readonly records?: readonly LoggedPart[]
  /** Beside them: those beyond the bound of one request. */
  readonly recordsLeftOut?: number
}

export const topKinds = [
  ...(['url', 'host', 'status', 'backend', 'missUrl', 'slowUrl', 'bytes'] as const),
] as const
export type TopKind = (typeof topKinds)[number]

/** Of `GET /top`. */
export interface TopEntry {
  readonly key: string
  /** Requests; bytes of `bytes`. */
  readonly count: number
  readonly share: number
  /** By so much the count may be too high. */
  readonly error: number
}
