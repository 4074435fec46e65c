/** The common calls of all nouns of the console: a list, whole or by page, and create, read, change and delete of one object. */
import { Type, type Static, type TSchema } from 'typebox'
import type { ConsoleAccess } from '../../resources/console-role.js'
import { parseObjectId, type ObjectKind } from '../../resources/object-id.js'
import type { Actor } from '../../resources/permission.js'
import { route, type Call, type Route } from '../http/route.js'
import { mapRows } from '../store/long-list.js'
import { readPage, takePage, type Page } from './pages.js'

export interface ConsoleNoun<Found> {
  /** The word in its paths, ids and errors. */
  readonly kind: Exclude<ObjectKind, 'commit'>
  /** `Group` of `getGroup`, `Groups` of `listGroups`. */
  readonly names: { readonly one: string; readonly many: string }
  /** As answered. */
  readonly schema: TSchema
  readonly view: (found: Found) => object
  /** For nouns that are answered with more fields alone than in a list. */
  readonly whole?: {
    readonly schema: TSchema
    readonly view: (found: Found) => Promise<object>
  }
  /** Undefined if it does not exist or the caller may not see it. */
  readonly find: (actor: Actor, id: number) => Promise<Found | undefined>
}

/** The common parts of the calls about one object. */
export function aboutOne<Found>(
  { kind, find }: Pick<ConsoleNoun<Found>, 'kind' | 'find'>,
  access: ConsoleAccess,
) {
  return {
    errorKey: kind,
    permission: { console: access },
    readId: (text: string) => parseObjectId(kind, text),
    find: (_: unknown, actor: Actor, id: number) => find(actor, id),
  }
}

interface ConsoleList<Found> {
  readonly summary: string
  /** All that the caller sees, or a page of it. */
  readonly read: (actor: Actor, page?: Page) => Promise<readonly Found[] | AsyncIterable<Found>>
  /** The key of the whole list in an answer; pages use `list`. */
  readonly wholeKey?: string
}

export function listRoutes<Found>(
  { kind, names, schema, view }: ConsoleNoun<Found>,
  { summary, read, wholeKey = 'list' }: ConsoleList<Found>,
): readonly Route[] {
  const path = `/v1/${kind}`
  const shared = { method: 'GET', errorKey: kind, permission: { console: 'read' } } as const
  const answersOf = (key: string) => ({ 200: Type.Object({ [key]: Type.Array(schema) }) })
  const answer = async (listKey: string, reading: ReturnType<typeof read>) => ({
    status: 200,
    listKey,
    body: mapRows({ rows: await reading }, view),
  })
  return [
    route({
      ...shared,
      path,
      operationId: `list${names.many}`,
      summary,
      answers: answersOf(wholeKey),
      handle: ({ actor }) => answer(wholeKey, read(actor)),
    }),
    route({
      ...shared,
      path: `${path}/{page}/{items}`,
      operationId: `list${names.many}ByPage`,
      summary: 'A page of them',
      answers: answersOf('list'),
      handle: async ({ actor, params }) => answer('list', read(actor, readPage(params, kind))),
    }),
  ]
}

interface Writing<Body extends TSchema, Found, Written> {
  readonly summary: string
  readonly access: ConsoleAccess
  readonly body: Body
  readonly run: (call: Call<Static<Body>, unknown, Found>) => Promise<Written>
}

interface NounCalls<Found, Made extends TSchema, Changed extends TSchema> {
  readonly list: {
    readonly summary: string
    readonly read: (actor: Actor) => Promise<readonly Found[]>
  }
  readonly create: Writing<Made, unknown, Found>
  readonly get: { readonly summary: string }
  readonly update: Writing<Changed, Found, Found>
  readonly delete: Omit<Writing<TSchema, Found, void>, 'body'>
}

/** For a noun whose objects users create. */
export function nounRoutes<Found, Made extends TSchema, Changed extends TSchema>(
  noun: ConsoleNoun<Found>,
  calls: NounCalls<Found, Made, Changed>,
): readonly Route[] {
  const { summary, read } = calls.list
  return [
    ...listRoutes(noun, {
      summary,
      read: async (actor, page) => takePage(await read(actor), page),
    }),
    createRoute(noun, calls.create),
    getRoute(noun, calls.get.summary),
    updateRoute(noun, calls.update),
    deleteRoute(noun, calls.delete),
  ]
}

function createRoute<Found, Body extends TSchema>(
  noun: ConsoleNoun<Found>,
  { summary, access, body, run }: Writing<Body, unknown, Found>,
): Route {
  const { kind, names } = noun
  const { schema, view } = wholeOf(noun)
  return route({
    method: 'POST',
    path: `/v1/${kind}`,
    operationId: `create${names.one}`,
    summary,
    errorKey: kind,
    permission: { console: access },
    ignoresUnknownKeys: true,
    body,
    answers: { 201: schema },
    handle: async (call) => ({ status: 201, body: await view(await run(call)) }),
  })
}

export function getRoute<Found>(noun: ConsoleNoun<Found>, summary: string): Route {
  const { schema, view } = wholeOf(noun)
  return route({
    ...ofOne(noun, 'read', 'get'),
    method: 'GET',
    summary,
    answers: { 200: schema },
    handle: async ({ object }) => ({ status: 200, body: await view(object) }),
  })
}

export function updateRoute<Found, Body extends TSchema>(
  noun: ConsoleNoun<Found>,
  { summary, access, body, run }: Writing<Body, Found, Found>,
): Route {
  const { schema, view } = wholeOf(noun)
  return route({
    ...ofOne(noun, access, 'update'),
    method: 'PATCH',
    summary,
    ignoresUnknownKeys: true,
    body,
    answers: { 200: schema },
    handle: async (call) => ({ status: 200, body: await view(await run(call)) }),
  })
}

function deleteRoute<Found>(
  noun: ConsoleNoun<Found>,
  { summary, access, run }: Omit<Writing<TSchema, Found, void>, 'body'>,
): Route {
  return route({
    ...ofOne(noun, access, 'delete'),
    method: 'DELETE',
    summary,
    answers: { 204: null },
    handle: async (call) => {
      await run(call)
      return { status: 204 }
    },
  })
}

function ofOne<Found>(noun: ConsoleNoun<Found>, access: ConsoleAccess, verb: string) {
  const { kind, names } = noun
  return {
    ...aboutOne(noun, access),
    path: `/v1/${kind}/{id}`,
    operationId: `${verb}${names.one}`,
  }
}

function wholeOf<Found>({ schema, view, whole }: ConsoleNoun<Found>) {
  return whole ?? { schema, view: (found: Found) => Promise.resolve(view(found)) }
}
