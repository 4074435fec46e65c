/** `/invalidations`: bans and purges that reach every agent of their target (docs/behaviour.md, Invalidations). */
import { Type, type Static } from 'typebox'
import { invalidation } from '../../resources/invalidation.js'
import type { Actor, PermissionType } from '../../resources/permission.js'
import { fieldNames } from '../../resources/resource.js'
import { FleetError } from '../../errors.js'
import { answerList, route, type Route } from '../http/route.js'
import { cancelInvalidation, deleteInvalidation, retryInvalidation } from './change-invalidation.js'
import { createInvalidation, previewInvalidation } from './create-invalidation.js'
import { findInvalidation, type InvalidationRecord } from './invalidation-queries.js'
import {
  invalidationListFields,
  listInvalidations,
  viewInvalidation,
  withFewResults,
} from './invalidation-view.js'
import { mapRows } from '../store/long-list.js'
import { scopeOf, type StateService } from '../service.js'
import {
  invalidationBody,
  invalidationSchema,
  listedInvalidationSchema,
  previewSchema,
  toInvalidationView,
  toListedView,
  type targetSchema,
} from './result-views.js'
import { listQuerySchema, requireAccess } from '../api/references.js'

const errorKey = 'invalidation'
const read = { type: 'invalidation', access: 'read' } as const
const write = { type: 'invalidation', access: 'write' } as const

/** What an entry answers and nobody writes. */
const ignoredKeys = fieldNames(invalidation.fields).filter(
  (key) => !(key in invalidationBody.properties),
)

/** What a target tells the names of. */
const typesReferred: Readonly<Record<string, PermissionType>> = {
  vclGroup: 'vclgroup',
  domains: 'domain',
  tags: 'tag',
  agents: 'agent',
}

export function invalidationRoutes(service: StateService): readonly Route[] {
  const find = (_: unknown, actor: Actor, id: number) =>
    findInvalidation(service.store.queries, scopeOf(actor), id)
  return [
    route({
      method: 'GET',
      path: '/invalidations',
      operationId: 'listInvalidations',
      summary: 'Invalidations, with the results of each agent where they are few',
      errorKey,
      permission: read,
      query: listQuerySchema(invalidationListFields),
      answers: { 200: Type.Array(listedInvalidationSchema) },
      handle: async ({ actor, query }) => {
        const found = await listInvalidations(service, actor, query)
        return answerList(mapRows(found, toListedView), found.total)
      },
    }),
    route({
      method: 'POST',
      path: '/invalidations',
      operationId: 'createInvalidation',
      summary: 'Bans or purges on every agent of the target; answered when it is on disk',
      errorKey,
      permission: write,
      body: invalidationBody,
      ignoredKeys,
      answers: { 202: listedInvalidationSchema },
      handle: async ({ context, actor, body }) => {
        const target = readTarget(actor, body.target)
        const view = await createInvalidation(service, context, actor, { ...body, target })
        return { status: 202, body: toListedView(withFewResults(view)) }
      },
    }),
    route({
      method: 'POST',
      path: '/invalidations/preview',
      operationId: 'previewInvalidation',
      summary: 'How many agents it would reach, and its warnings; nothing is kept or sent',
      errorKey,
      asksOnly: true,
      permission: write,
      body: invalidationBody,
      ignoredKeys,
      answers: { 200: previewSchema },
      handle: async ({ actor, body }) => {
        const target = readTarget(actor, body.target)
        return { status: 200, body: await previewInvalidation(service, actor, { ...body, target }) }
      },
    }),
    route({
      method: 'GET',
      path: '/invalidations/{id}',
      operationId: 'getInvalidation',
      summary: 'One invalidation, with the result of each agent',
      errorKey,
      permission: read,
      find,
      answers: { 200: invalidationSchema },
      handle: async ({ object }) => ({ status: 200, body: await view(service, object) }),
    }),
    route({
      method: 'DELETE',
      path: '/invalidations/{id}',
      operationId: 'deleteInvalidation',
      summary: 'Deletes an invalidation that has ended; 409 while it goes on',
      errorKey,
      permission: write,
      find,
      answers: { 204: null },
      handle: async ({ object }) => {
        await deleteInvalidation(service, object)
        return { status: 204 }
      },
    }),
    route({
      method: 'PUT',
      path: '/invalidations/{id}/retry',
      operationId: 'retryInvalidation',
      summary: 'Tries it again where it is not done; 409 when it is Completed',
      errorKey,
      permission: write,
      find,
      answers: { 202: invalidationSchema },
      handle: async ({ actor, object }) => ({
        status: 202,
        body: await view(service, await retryInvalidation(service, actor, object)),
      }),
    }),
    route({
      method: 'PUT',
      path: '/invalidations/{id}/cancel',
      operationId: 'cancelInvalidation',
      summary: 'Does not do what is pending; 409 when it has ended',
      errorKey,
      permission: write,
      find,
      answers: { 200: invalidationSchema },
      handle: async ({ actor, object }) => ({
        status: 200,
        body: await view(service, await cancelInvalidation(service, actor, object)),
      }),
    }),
  ]
}

async function view(service: StateService, entry: InvalidationRecord) {
  return toInvalidationView(await viewInvalidation(service, entry))
}

function readTarget(actor: Actor, target: Static<typeof targetSchema>) {
  const keys = Object.keys(target)
  if (keys.length !== 1)
    throw new FleetError(
      'invalid',
      errorKey,
      `target has ${keys.length} keys; exactly one of vclGroup, domains, tags, agents and all is right`,
    )
  for (const key of keys) {
    const type = typesReferred[key]
    if (type) requireAccess(actor, type, 'read', errorKey)
  }
  return target
}
