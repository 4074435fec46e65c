/** The five routes of a noun that users can edit, built from its definition and its use cases. */
import { Type, type Static, type TSchema, type TUnsafe } from 'typebox'
import type { Access, Actor } from '../../resources/permission.js'
import {
  readOnlyNames,
  writtenFields,
  type Fields,
  type Resource,
} from '../../resources/resource.js'
import type { ErrorKey } from '../../errors.js'
import { answerList, route, type Edit, type Route } from '../http/route.js'
import { mapRows } from '../store/long-list.js'
import type { StoredRecord } from '../store/resource-rows.js'
import type { Tables } from '../store/schema.js'
import type { Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { scopeOf, type StateService } from '../service.js'
import { editing } from './editing.js'
import { listFieldsOf, listObjects, type Listing } from './list-objects.js'
import { forceQuery, listQuerySchema, requireAccess } from './references.js'
import { answerMaker, type Computed } from './resource-answers.js'
import {
  answerSchema,
  createBody,
  editKeys,
  requireFixed,
  updateBody,
  type CreateBody,
  type UpdateBody,
} from './resource-schemas.js'

type Summaries = Readonly<Record<'list' | 'create' | 'get' | 'update' | 'delete', string>>

/** What every route for a single object needs. */
interface Findable<Found extends object> {
  readonly resource: Resource
  /** Part of operation ids, such as `VclGroup`. */
  readonly title: string
  readonly find: (queries: Queries, scope: Scope, id: number) => Promise<Found | undefined>
}

interface Readable<Found extends object, View> extends Findable<Found> {
  readonly summaries: Pick<Summaries, 'get'>
  readonly answer: TSchema
  readonly view: (service: StateService, found: Found) => View | Promise<View>
  readonly toAnswer: (view: View) => object
}

interface Removable<Found extends object> extends Findable<Found> {
  readonly summaries: Pick<Summaries, 'delete'>
  /** Throws if the caller may only read the object, for example a shared one. */
  readonly requireChangeable?: (
    actor: Actor,
    found: Found,
    service: StateService,
  ) => void | Promise<void>
  readonly remove: (service: StateService, found: Found, actor: Actor) => Promise<void>
}

interface Listable<TB extends keyof Tables, Row extends { readonly id: number }, Listed> {
  readonly resource: Resource
  /** Part of operation ids, such as `VclGroup`. */
  readonly title: string
  readonly summaries: Pick<Summaries, 'list'>
  readonly listing: Listing<TB, Row, Listed>
  /** The access that the list requires; read by default. */
  readonly listAccess?: Access
  /** The schema of one object in a list. */
  readonly listed: TSchema
  readonly toListed: (listed: Listed) => object
}

interface Bodies {
  readonly create: TSchema
  readonly update: TSchema
}

interface BodiesOf<F extends Fields> extends Bodies {
  readonly create: TUnsafe<CreateBody<F>>
  readonly update: TUnsafe<UpdateBody<F>>
}

interface Editable<
  F extends Fields,
  TB extends keyof Tables,
  Row extends { readonly id: number },
  Listed,
  Found extends object,
  View,
  B extends Bodies = BodiesOf<F>,
>
  extends Listable<TB, Row, Listed>, Readable<Found, View>, Removable<Found> {
  readonly resource: Resource & { readonly fields: F }
  readonly summaries: Summaries
  /** Returns what a PUT changes, in the form of the response; by default the record itself has this form. */
  readonly toEdited?: (found: Found) => object
  /** `keys` distinguish edits, beside the keys that a PUT writes; `longKey` is identified by another key. */
  readonly edited?: { readonly keys: readonly string[]; readonly longKey?: string }
  /** For bodies with more than the fields; by default they are built from the fields. */
  readonly bodies?: B
  /** Keys that are accepted and ignored, beside the read-only ones. */
  readonly ignored?: readonly string[]
  /** References to other objects need no permission beyond the noun's own. */
  readonly skipsAccessCheck?: true
  readonly create: (service: StateService, actor: Actor, body: Static<B['create']>) => Promise<View>
  /** Describes what `force` allows; absent: PUT has no `force` parameter. */
  readonly force?: string
  readonly update: (
    service: StateService,
    actor: Actor,
    found: Found,
    change: Static<B['update']> & { readonly force: boolean },
  ) => Promise<View>
}

export function listRoute<TB extends keyof Tables, Row extends { readonly id: number }, Listed>(
  service: StateService,
  of: Listable<TB, Row, Listed>,
): Route {
  const { resource, listing, listAccess = 'read' } = of
  const { noun, permission } = resource
  return route({
    method: 'GET',
    path: resource.path,
    operationId: `list${of.title}s`,
    summary: of.summaries.list,
    errorKey: noun,
    permission: { type: permission, access: listAccess },
    query: listQuerySchema(listFieldsOf(listing)),
    answers: { 200: Type.Array(of.listed) },
    handle: async ({ actor, query }) => {
      const found = await listObjects(service, actor, query, { noun, listing })
      return answerList(mapRows(found, of.toListed), found.total)
    },
  })
}

export function resourceRoutes<
  F extends Fields,
  TB extends keyof Tables,
  Row extends { readonly id: number },
  Listed,
  Found extends object,
  View,
  B extends Bodies = BodiesOf<F>,
>(service: StateService, of: Editable<F, TB, Row, Listed, Found, View, B>): readonly Route[] {
  const { noun: errorKey, permission: type, path, fields } = of.resource
  const { title, summaries, bodies, toEdited = asItIs } = of
  const edit = editingOf(service, of)
  const write = { errorKey, permission: { type, access: 'write' }, edit } as const
  const ignoredKeys = [...readOnlyNames(fields), ...(of.ignored ?? [])]
  const mayName = (actor: Actor, body: object): void => {
    if (of.skipsAccessCheck !== true) requireReferences(actor, fields, body, errorKey)
  }
  return [
    listRoute(service, of),
    route({
      ...write,
      method: 'POST',
      path,
      operationId: `create${title}`,
      summary: summaries.create,
      body: bodies?.create ?? createBody(fields),
      ignoredKeys,
      answers: { 201: of.answer },
      handle: async ({ actor, body }) => {
        mayName(actor, body as object)
        const made = await of.create(service, actor, body as Static<B['create']>)
        return { status: 201, body: of.toAnswer(made) }
      },
    }),
    getRoute(service, of, edit),
    route({
      ...write,
      method: 'PUT',
      path: `${path}/{id}`,
      operationId: `update${title}`,
      summary: summaries.update,
      find: findChangeable(service, of),
      ...(of.force !== undefined && { query: forceQuery(of.force) }),
      body: bodies?.update ?? updateBody(fields),
      ignoredKeys,
      answers: { 200: of.answer },
      handle: async ({ actor, object, body, query, guarded }) => {
        mayName(actor, body as object)
        requireFixed(of.resource, body as object, toEdited(object))
        const change = { ...(body as Static<B['update']> & object), force: query.force ?? false }
        return { status: 200, body: of.toAnswer(await of.update(guarded, actor, object, change)) }
      },
    }),
    deleteRoute(service, of, edit),
  ]
}

/** `edit`: only for objects that users can edit. */
export function getRoute<Found extends object, View>(
  service: StateService,
  of: Readable<Found, View>,
  edit?: Edit<Found, StateService>,
): Route {
  const { noun, permission, path } = of.resource
  return route({
    method: 'GET',
    path: `${path}/{id}`,
    operationId: `get${of.title}`,
    summary: of.summaries.get,
    errorKey: noun,
    permission: { type: permission, access: 'read' },
    ...(edit && { edit }),
    find: (_, actor, id) => of.find(service.store.queries, scopeOf(actor), id),
    answers: { 200: of.answer },
    handle: async ({ object }) => ({
      status: 200,
      body: of.toAnswer(await of.view(service, object)),
    }),
  })
}

/** `edit`: only for objects that users can edit. */
export function deleteRoute<Found extends object>(
  service: StateService,
  of: Removable<Found>,
  edit?: Edit<Found, StateService>,
): Route {
  const { noun, permission, path } = of.resource
  return route({
    method: 'DELETE',
    path: `${path}/{id}`,
    operationId: `delete${of.title}`,
    summary: of.summaries.delete,
    errorKey: noun,
    permission: { type: permission, access: 'write' },
    ...(edit && { edit }),
    find: findChangeable(service, of),
    answers: { 204: null },
    handle: async ({ actor, object, guarded }) => {
      await of.remove(edit ? guarded : service, object, actor)
      return { status: 204 }
    },
  })
}

function findChangeable<Found extends object>(service: StateService, of: Removable<Found>) {
  return async (_: unknown, actor: Actor, id: number): Promise<Found | undefined> => {
    const found = await of.find(service.store.queries, scopeOf(actor), id)
    if (found !== undefined) await of.requireChangeable?.(actor, found, service)
    return found
  }
}

/** How an object is edited; exported for other routes of the same noun. */
export function editingOf<Found extends object>(
  service: StateService,
  of: Pick<Findable<Found>, 'resource' | 'find'> & {
    readonly toEdited?: (found: Found) => object
    readonly edited?: { readonly keys: readonly string[]; readonly longKey?: string }
  },
) {
  const { keys: more = [], longKey } = of.edited ?? {}
  const keys = [...editKeys(of.resource.fields).filter((key) => key !== longKey), ...more]
  return editing(service, {
    keys,
    ...(longKey !== undefined && { longKey }),
    find: (inside, actor, id) => of.find(inside.store.queries, scopeOf(actor), id),
    view: of.toEdited ?? asItIs,
  })
}

function asItIs(found: object): object {
  return found
}

/** For a noun whose response is the same in all routes. `compute` returns the fields that have no column. */
export function answeredAs<F extends Fields, Found extends StoredRecord<F>>(
  fields: F,
  compute: (found: Found) => Computed<F>,
) {
  const schema = answerSchema(fields)
  const makeAnswer = answerMaker(fields)
  const toAnswer = (found: Found) => makeAnswer(found, compute(found))
  return {
    listed: schema,
    toListed: toAnswer,
    toEdited: toAnswer,
    answer: schema,
    view: (_: StateService, found: Found) => found,
    toAnswer,
  }
}

/** Requires read on the types that a body refers to, because the response shows the referenced objects' names. */
export function requireReferences(
  actor: Actor,
  fields: Fields,
  body: object,
  errorKey: ErrorKey,
): void {
  for (const [name, field] of writtenFields(fields))
    if ('to' in field && name in body) requireAccess(actor, field.to.permission, 'read', errorKey)
}
