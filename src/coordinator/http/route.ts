/**
 * One table decides a call: path, permission, schemas, handler. The validators, the OpenAPI document and the order
 * of checks (401, 405/404 path, 403 type, 404 object, 415/413/400 body, 409/422; docs/behaviour.md, Calls) all read it.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Static, TObject, TSchema } from 'typebox'
import type { Context } from '../../context.js'
import type { ConsoleAccess } from '../../resources/console-role.js'
import type { Access, Actor, PermissionType } from '../../resources/permission.js'
import type { ErrorKey } from '../../errors.js'
import type { EventStream } from './event-stream.js'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Accepted body formats; only JSON unless the route lists others. */
export type BodyType = 'json' | 'text' | 'form'

/** Input of a handler. `body` and `query` have passed their schemas; `object` is the result of `find`. */
export interface Call<Body, Query, Found, Service = unknown> {
  readonly context: Context
  readonly actor: Actor
  readonly body: Body
  readonly query: Query
  readonly object: Found
  /** Set for a route with `edit`; used by its use case. */
  readonly guarded: Service
  /** Path parameters by name, without the object's `id` if `find` consumed it. */
  readonly params: Readonly<Record<string, string>>
  readonly sourceAddress: string
  /** Request headers as sent; only calls about credentials read them. */
  readonly headers: IncomingHttpHeaders
  /** True if the caller used TLS, to this listener or to a trusted proxy. */
  readonly secure: boolean
  /** Records the account that a call without an access token concerned, for the API log. */
  readonly note: (about: CallNote) => void
}

export interface CallNote {
  /** By id, or by the name that the caller gave. */
  readonly organization?: number | string | null
  readonly account?: string
  /** A warning about a call that succeeded. */
  readonly warning?: string
}

/**
 * An object that users edit. Its routes send an ETag; PUT and DELETE honour If-Match, GET honours If-None-Match (etag.ts).
 */
export interface Edit<Found = unknown, Service = unknown> {
  /** Keys of the answer that a PUT changes: while they are equal the object has not been edited. */
  readonly keys: readonly string[]
  /** A key that may be megabytes long and whose content is identified by another key, as a file's source is by its `sha`. */
  readonly longKey?: string
  /** The object as sent, with at least these keys. */
  view(object: Found): object
  /** For calls without a comparison. */
  readonly unguarded: Service
  /**
   * `requireSame` is called with the object (undefined if deleted) inside the transaction that changes it, and throws if
   * another edit intervened.
   */
  guard(actor: Actor, id: number, requireSame: (object: Found | undefined) => void): Service
}

export interface Answer {
  readonly status: number
  /**
   * Sent as JSON; a long array or an AsyncIterable as a JSON array in pieces; a Uint8Array unchanged, with the `content-type`
   * of `headers`.
   */
  readonly body?: unknown
  /** The list `body` is sent as the only member of an object, under this key. */
  readonly listKey?: string
  /** The body's JSON, if it was composed already. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** Used instead of a body: writes events until either side closes the stream. */
  readonly stream?: (stream: EventStream) => void
}

export interface Route<
  Body extends TSchema = TSchema,
  Query extends TObject = TObject,
  Found = unknown,
  Service = unknown,
> {
  readonly method: Method
  /** Below the API's prefix, with `{name}` parameters: `/agents/{id}/vcls`. */
  readonly path: string
  readonly operationId: string
  readonly summary: string
  /** Error key of this call: the resource in the singular, `deploy` for the group verbs. */
  readonly errorKey: ErrorKey
  /**
   * `public` needs no login, `anyone` any valid login; otherwise the permission of the type, or a role of the console.
   * `alsoReads`: statistics concern objects that the caller must also be allowed to read (docs/behaviour.md, Calls).
   */
  readonly permission:
    | 'public'
    | 'anyone'
    | {
        readonly type: PermissionType
        readonly access: Access
        readonly alsoReads?: PermissionType
      }
    | { readonly console: ConsoleAccess }
  /** Parses the path's `{id}`, a decimal number by default. Returns undefined if it cannot be an id of this resource. */
  readonly readId?: (text: string) => number | undefined
  /** Finds the object of `{id}`; undefined is answered with 404 "`<id>` was not found" before the body is read. */
  readonly find?: (context: Context, actor: Actor, id: number) => Promise<Found | undefined>
  /** Set if the object that is read or changed is edited by users. */
  readonly edit?: Edit<Found, Service>
  /**
   * Closed schema: an unknown or repeated parameter is 400; integers and booleans are converted. With
   * `additionalProperties: true` unknown parameters are passed on unchanged (string or list of strings).
   */
  readonly query?: Query
  /** Without a schema the call takes no body. Keys are matched case-insensitively before validation. */
  readonly body?: Body
  /** A form becomes an object of its fields, a text an object with the key `textKey`. */
  readonly bodyTypes?: readonly BodyType[]
  readonly textKey?: string
  /** Ignores unknown keys instead of refusing them. */
  readonly ignoresUnknownKeys?: boolean
  /** Read-only keys of a GET body, accepted and ignored (a different `id` is 400). */
  readonly ignoredKeys?: readonly string[]
  /** An empty body is valid. */
  readonly bodyOptional?: boolean
  /** The answer is a stream of events; the schema of 200 describes the data of each event. */
  readonly isStream?: boolean
  /** The call changes nothing although it is not a GET; the API log distinguishes it from calls that do. */
  readonly asksOnly?: boolean
  /** Served even if `admit` of the API refuses calls. */
  readonly needsNoLicense?: boolean
  /** Schema of each success status; null means no body. */
  readonly answers: Readonly<Record<number, TSchema | null>>
  readonly handle: (call: Call<Static<Body>, Static<Query>, Found, Service>) => Promise<Answer>
}

/** Preserves the types of one route within a list of routes. */
export function route<Body extends TSchema, Query extends TObject, Found, Service>(
  definition: Route<Body, Query, Found, Service>,
): Route {
  return definition as unknown as Route // handlers are only called with what their own schemas let through
}

/** A GET without login of something that is not a resource: health, documentation, the page. */
export function publicRoute(
  path: string,
  about: Pick<Route, 'operationId' | 'summary' | 'query'>,
  handle: (call: Pick<Call<unknown, unknown, unknown>, 'headers' | 'params'>) => Promise<Answer>,
): Route {
  const answers = { 200: null }
  return { ...about, method: 'GET', path, errorKey: 'path', permission: 'public', answers, handle }
}

/** Answer of a list: `totalCount` counts the objects after the filters, before `take` (docs/behaviour.md, Calls). */
export function answerList(
  items: readonly unknown[] | AsyncIterable<unknown>,
  totalCount: number,
): Answer {
  return { status: 200, body: items, headers: { 'x-total-count': String(totalCount) } }
}
