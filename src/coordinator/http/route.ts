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

/** How a body may be written; JSON alone unless a route says otherwise. */
export type BodyType = 'json' | 'text' | 'form'

/** What a handler is given. `body` and `query` passed their schemas; `object` is what `find` answered. */
export interface Call<Body, Query, Found, Service = unknown> {
  readonly context: Context
  readonly actor: Actor
  readonly body: Body
  readonly query: Query
  readonly object: Found
  /** Of a route with `edit`: what its use case works with. */
  readonly guarded: Service
  /** Path parameters by name; the object's `id` is not among them where `find` took it. */
  readonly params: Readonly<Record<string, string>>
  readonly sourceAddress: string
  /** As they were sent; only the calls about credentials read them. */
  readonly headers: IncomingHttpHeaders
  /** The caller used TLS, to us or to a trusted proxy. */
  readonly secure: boolean
  /** Who a call without an access token was about: for the api log. */
  readonly note: (about: CallNote) => void
}

export interface CallNote {
  /** By id, or as the caller named it. */
  readonly organization?: number | string | null
  readonly account?: string
  /** What is told of the call though it succeeded, as a warning. */
  readonly warning?: string
}

/**
 * The object of a resource that users edit. Routes that say so answer its ETag; a PUT and a DELETE keep to If-Match, a GET to
 * If-None-Match (etag.ts).
 */
export interface Edit<Found = unknown, Service = unknown> {
  /** What a PUT changes, by the keys of the answer: while they are the same nobody has edited the object. */
  readonly keys: readonly string[]
  /** A key that may be megabytes long and whose content another key tells, as a file's `sha` does of its source. */
  readonly longKey?: string
  /** As it is answered, at least these keys. */
  view(object: Found): object
  /** For what compares nothing. */
  readonly unguarded: Service
  /**
   * `requireSame` is called with the object (undefined: it is gone) inside the transaction that changes it, and throws when
   * another edit came between.
   */
  guard(actor: Actor, id: number, requireSame: (object: Found | undefined) => void): Service
}

export interface Answer {
  readonly status: number
  /**
   * Answered as JSON; a long array or an AsyncIterable as a JSON array in pieces; a Uint8Array as it is, with the
   * `content-type` of `headers`.
   */
  readonly body?: unknown
  /** The list `body` is answered as the one member of an object, under this key. */
  readonly listKey?: string
  /** The body's JSON, where it is made already. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** Instead of a body: writes events until either side ends. */
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
  /** Scope of this call's errors: the resource's singular, `deploy` for the group verbs. */
  readonly errorKey: ErrorKey
  /**
   * `public` needs no login, `anyone` any valid one, otherwise the type's permission, or a role of the console. `alsoReads`:
   * statistics are of objects that the caller must be allowed to read too (docs/behaviour.md, Calls).
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
  /** Reads the path's `{id}`; left out: it is a decimal number. Undefined: it is the id of nothing here. */
  readonly readId?: (text: string) => number | undefined
  /** Finds the object of `{id}`, or answers undefined: 404 "`<id>` was not found", before the body is read. */
  readonly find?: (context: Context, actor: Actor, id: number) => Promise<Found | undefined>
  /** The object that is answered or changed is one that users edit. */
  readonly edit?: Edit<Found, Service>
  /**
   * Closed: an unknown or repeated parameter is 400, values of integer and boolean properties are converted. With
   * `additionalProperties: true` what the schema does not name is passed on as it came (string or list of strings).
   */
  readonly query?: Query
  /** Without a schema the call takes no body. Keys are matched without regard to case before validation. */
  readonly body?: Body
  /** A form becomes an object of its fields, a text one of the key `textKey`. */
  readonly bodyTypes?: readonly BodyType[]
  readonly textKey?: string
  /** Unknown keys are ignored instead of refused. */
  readonly ignoresUnknownKeys?: boolean
  /** Read-only keys that a GET body has: accepted and ignored (a different `id` is 400). */
  readonly ignoredKeys?: readonly string[]
  /** An empty body is valid. */
  readonly bodyOptional?: boolean
  /** Its answer is a stream of events; the schema of 200 is that of each one's data. */
  readonly isStream?: boolean
  /** It changes nothing, though it is not a GET: the api log tells it from calls that do. */
  readonly asksOnly?: boolean
  /** Answered also where `admit` of the API refuses its calls. */
  readonly needsNoLicense?: boolean
  /** Schema of each success status; null: no body. */
  readonly answers: Readonly<Record<number, TSchema | null>>
  readonly handle: (call: Call<Static<Body>, Static<Query>, Found, Service>) => Promise<Answer>
}

/** Keeps the types of one route while it stands in a list of many. */
export function route<Body extends TSchema, Query extends TObject, Found, Service>(
  definition: Route<Body, Query, Found, Service>,
): Route {
  return definition as unknown as Route // handlers are only called with what their own schemas let through
}

/** A GET that nobody logs in for, of a part of this program that is not a resource: health, documentation, the page. */
export function publicRoute(
  path: string,
  about: Pick<Route, 'operationId' | 'summary' | 'query'>,
  handle: (call: Pick<Call<unknown, unknown, unknown>, 'headers' | 'params'>) => Promise<Answer>,
): Route {
  const answers = { 200: null }
  return { ...about, method: 'GET', path, errorKey: 'path', permission: 'public', answers, handle }
}

/** A list's answer: `totalCount` is what the filters let through, before `take` (docs/behaviour.md, Calls). */
export function answerList(
  items: readonly unknown[] | AsyncIterable<unknown>,
  totalCount: number,
): Answer {
  return { status: 200, body: items, headers: { 'x-total-count': String(totalCount) } }
}
