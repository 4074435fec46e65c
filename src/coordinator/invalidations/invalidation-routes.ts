/** `/invalidations`: bans and purges that reach every agent of their target (docs/behaviour.md, Invalidations). */
import { Type, type Static } from 'typebox'
import { invalidation } from '../../resources/invalidation.js'
import type { Actor, PermissionType } from '../../resources/permission.js'
import { fieldNames } from '../../resources/resource.js'
import { FleetError } from '../../errors.js'
import { answerList, route, type Route } from '../http/route.js'
import { cancelInvalidation, deleteInvalidation, retryInvalidation } from './change-invalidation.js'
import { createInvalidation, previewInvalidation } from './create-invalidation.js'
import { findInvalidation } from './invalidation-queries.js'
import { invalidationListFields, listInvalidations, viewInvalidation } from './invalidation-view.js'
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
import { deleteRoute, getRoute } from '../api/resource-routes.js'

const errorKey = 'invalidation'
const write = { type: 'invalidation', access: 'write' } as const

/** Read-only fields of an entry. */
const ignoredKeys = fieldNames(invalidation.fields).filter(
  (key) => !(key in invalidationBody.properties),
)

/** References of a target that are shown with names. */
const typesReferred: Readonly<Record<string, PermissionType>> = {
  vclGroup: 'vclgroup',
  domains: 'domain',
  tags: 'tag',
  agents: 'agent',
}

export function invalidationRoutes(service: StateService): readonly Route[] {
  const asked = { errorKey, permission: write, body: invalidationBody, ignoredKeys } as const
  return [
    route({
      method: 'GET',
      path: '/invalidations',
      operationId: 'listInvalidations',
      summary: 'Invalidations, with the results of each agent where they are few',
      errorKey,
      permission: { type: 'invalidation', access: 'read' },
      query: listQuerySchema(invalidationListFields),
      answers: { 200: Type.Array(listedInvalidationSchema) },
      handle: async ({ actor, query }) => {
        const found = await listInvalidations(service, actor, query)
        return answerList(mapRows(found, toListedView), found.total)
      },
    }),
    route({
      ...asked,
      method: 'POST',
      path: '/invalidations',
      operationId: 'createInvalidation',
      summary: 'Bans or purges on every agent of the target; answered when it is on disk',
      answers: { 202: listedInvalidationSchema },
      handle: async ({ context, actor, body }) => {
        const target = readTarget(actor, body.target)
        const view = await createInvalidation(service, context, actor, { ...body, target })
        return { status: 202, body: toListedView(view) }
      },
    }),
    route({
      ...asked,
      method: 'POST',
      path: '/invalidations/preview',
      operationId: 'previewInvalidation',
      summary: 'How many agents it would reach, and its warnings; nothing is stored or sent',
      asksOnly: true,
      answers: { 200: previewSchema },
      handle: async ({ actor, body }) => {
        const target = readTarget(actor, body.target)
        return { status: 200, body: await previewInvalidation(service, actor, { ...body, target }) }
      },
    }),
    getRoute(service, entries),
    deleteRoute(service, entries),
    changeRoute(service, 202, {
      verb: 'retry',
      summary: 'Retries it where it is not done; 409 when it is Completed',
      run: retryInvalidation,
    }),
    changeRoute(service, 200, {
      verb: 'cancel',
      summary: 'Cancels what is pending; 409 when it has ended',
      run: cancelInvalidation,
    }),
  ]
}

const entries = {
  resource: invalidation,
  title: 'Invalidation',
  summaries: {
    get: 'One invalidation, with the result of each agent',
    delete: 'Deletes an invalidation that has ended; 409 while it goes on',
  },
  find: findInvalidation,
  answer: invalidationSchema,
  view: viewInvalidation,
  toAnswer: toInvalidationView,
  remove: deleteInvalidation,
} as const

interface ChangeVerb {
  readonly verb: string
  readonly summary: string
  readonly run: typeof retryInvalidation
}

function changeRoute(
  service: StateService,
  status: number,
  { verb, summary, run }: ChangeVerb,
): Route {
  return route({
    method: 'PUT',
    path: `/invalidations/{id}/${verb}`,
    operationId: `${verb}Invalidation`,
    summary,
    errorKey,
    permission: write,
    find: (_, actor, id) => findInvalidation(service.store.queries, scopeOf(actor), id),
    answers: { [status]: invalidationSchema },
    handle: async ({ actor, object }) => {
      const changed = await run(service, actor, object)
      return { status, body: toInvalidationView(await viewInvalidation(service, changed)) }
    },
  })
}

function readTarget(actor: Actor, target: Static<typeof targetSchema>) {
  const keys = Object.keys(target)
  if (keys.length !== 1)
    throw new FleetError(
      'invalid',
      errorKey,
      `target has ${keys.length} keys; it must have exactly one of vclGroup, domains, tags, agents and all`,
    )
  for (const key of keys) {
    const type = typesReferred[key]
    if (type) requireAccess(actor, type, 'read', errorKey)
  }
  return target
}
