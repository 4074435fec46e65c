/** The five calls that the objects of most nouns have: list, make, get, change, delete. Verbs of a noun are routes of its own. */
import { Type, type Static, type TSchema } from 'typebox'
import type { Access, Actor } from '../../resources/permission.js'
import { readOnlyNames, type Resource } from '../../resources/resource.js'
import { answerList, route, type Edit, type Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { mapRows } from '../store/long-list.js'
import { editing } from './editing.js'
import { listQuerySchema } from './references.js'
import type { Reading } from './noun-reading.js'
import { editKeys, requireFixed } from './resource-schemas.js'

/** What is the same of all calls of a noun. */
export interface Calls<Found> {
  readonly service: StateService
  readonly resource: Resource
  /** In its operation ids: `JoinToken`. */
  readonly named: string
  readonly reading: Reading<Found>
  readonly schema: TSchema
  readonly view: (record: Found) => object
  /** What a PUT changes beside the keys of the answer: `updated`, where it takes what is never answered. */
  readonly editsUnseen?: boolean
  /** What the list needs; to read unless given. */
  readonly listAccess?: Access
  /** What may be changed or deleted; what may be read unless given. */
  readonly findChangeable?: (
    service: StateService,
    actor: Actor,
    id: number,
  ) => Promise<Found | undefined>
}

interface Writing<Body extends TSchema> {
  readonly summary: string
  readonly body: Body
}

interface Creating<Body extends TSchema, Found> extends Writing<Body> {
  readonly run: (actor: Actor, body: Static<Body>) => Promise<Found>
}

interface Updating<Body extends TSchema, Found> extends Writing<Body> {
  readonly run: (
    guarded: StateService,
    actor: Actor,
    object: Found,
    body: Static<Body>,
  ) => Promise<Found>
}

interface Deleting<Found> {
  readonly summary: string
  readonly run: (guarded: StateService, object: Found, actor: Actor) => Promise<void>
}

interface Crud<Found, New extends TSchema, Change extends TSchema> extends Calls<Found> {
  readonly list: string
  readonly get: string
  readonly create: Creating<New, Found>
  readonly update: Updating<Change, Found>
  readonly remove: Deleting<Found>
}

/** Texts are summaries. */
export function crudRoutes<Found, New extends TSchema, Change extends TSchema>(
  crud: Crud<Found, New, Change>,
): readonly Route[] {
  const { service, resource, editsUnseen = false, reading, view } = crud
  const keys = [...editKeys(resource.fields), ...(editsUnseen ? ['updated'] : [])]
  const edit = editing(service, { keys, find: reading.find, view })
  return [
    listRoute(crud, crud.list),
    createRoute(crud, edit, crud.create),
    getRoute(crud, edit, crud.get),
    updateRoute(crud, edit, crud.update),
    deleteRoute(crud, edit, crud.remove),
  ]
}

export function listRoute<Found>(calls: Calls<Found>, summary: string): Route {
  const { service, resource, named, reading, schema, view, listAccess = 'read' } = calls
  return route({
    method: 'GET',
    path: resource.path,
    operationId: `list${named}s`,
    summary,
    errorKey: resource.noun,
    permission: { type: resource.permission, access: listAccess },
    query: listQuerySchema(reading.listFields),
    answers: { 200: Type.Array(schema) },
    handle: async ({ actor, query }) => {
      const found = await reading.list(service, actor, query)
      return answerList(mapRows(found, view), found.total)
    },
  })
}

function createRoute<Found, Body extends TSchema>(
  { resource, named, schema, view }: Calls<Found>,
  edit: Edit<Found, StateService>,
  { summary, body, run }: Creating<Body, Found>,
): Route {
  return route({
    method: 'POST',
    path: resource.path,
    operationId: `create${named}`,
    summary,
    errorKey: resource.noun,
    permission: { type: resource.permission, access: 'write' },
    edit,
    body,
    ignoredKeys: readOnlyNames(resource.fields),
    answers: { 201: schema },
    handle: async ({ actor, body }) => ({ status: 201, body: view(await run(actor, body)) }),
  })
}

function getRoute<Found>(
  { service, resource, named, reading, schema, view }: Calls<Found>,
  edit: Edit<Found, StateService>,
  summary: string,
): Route {
  return route({
    method: 'GET',
    path: `${resource.path}/{id}`,
    operationId: `get${named}`,
    summary,
    errorKey: resource.noun,
    permission: { type: resource.permission, access: 'read' },
    edit,
    find: (_, actor, id) => reading.find(service, actor, id),
    answers: { 200: schema },
    handle: ({ object }) => Promise.resolve({ status: 200, body: view(object) }),
  })
}

function updateRoute<Found, Body extends TSchema>(
  calls: Calls<Found>,
  edit: Edit<Found, StateService>,
  { summary, body, run }: Updating<Body, Found>,
): Route {
  const { service, resource, named, reading, schema, view, findChangeable = reading.find } = calls
  return route({
    method: 'PUT',
    path: `${resource.path}/{id}`,
    operationId: `update${named}`,
    summary,
    errorKey: resource.noun,
    permission: { type: resource.permission, access: 'write' },
    edit,
    find: (_, actor, id) => findChangeable(service, actor, id),
    body,
    ignoredKeys: readOnlyNames(resource.fields),
    answers: { 200: schema },
    handle: async ({ actor, object, body, guarded }) => {
      requireFixed(resource, body, view(object))
      return { status: 200, body: view(await run(guarded, actor, object, body)) }
    },
  })
}

/** Without an `edit` it is deleted as it is. */
export function deleteRoute<Found>(
  { service, resource, named, reading, findChangeable = reading.find }: Calls<Found>,
  edit: Edit<Found, StateService> | null,
  { summary, run }: Deleting<Found>,
): Route {
  return route({
    method: 'DELETE',
    path: `${resource.path}/{id}`,
    operationId: `delete${named}`,
    summary,
    errorKey: resource.noun,
    permission: { type: resource.permission, access: 'write' },
    ...(edit && { edit }),
    find: (_, actor, id) => findChangeable(service, actor, id),
    answers: { 204: null },
    handle: async ({ actor, object, guarded }) => {
      await run(edit ? guarded : service, object, actor)
      return { status: 204 }
    },
  })
}
