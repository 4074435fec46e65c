/** `/organizations`: separate owners of objects, made and changed by the system administrator. */
import { Type } from 'typebox'
import { answerList, route, type Route } from '../http/route.js'
import {
  assignAccount,
  createOrganization,
  deleteOrganization,
  findChangeableOrganization,
  findOrganization,
  listOrganizations,
  organizationListFields,
  unassignAccount,
  updateOrganization,
} from './organizations.js'
import type { StateService } from '../service.js'
import { mapRows } from '../store/long-list.js'
import {
  accountSchema,
  quotasSchema,
  toOrganizationView,
  wholeOrganizationSchema,
} from './identity-views.js'
import { editing } from '../api/editing.js'
import {
  listQuerySchema,
  nameSchema,
  orNull,
  referenceTo,
  requireAccess,
} from '../api/references.js'

const errorKey = 'organization'
const read = { type: 'org', access: 'read' } as const
const write = { type: 'org', access: 'write' } as const
const closed = { additionalProperties: false }
const ignoredKeys = ['id', 'created', 'updated']

/** choices: 2. Seconds. */
const ttlMost = 31_536_000
const changeable = {
  accessTTL: Type.Optional(
    orNull(Type.Integer({ minimum: 1, maximum: ttlMost, default: 600, description: 'seconds' })),
  ),
  refreshTTL: Type.Optional(
    orNull(
      Type.Integer({
        minimum: 1,
        maximum: ttlMost,
        default: 3600,
        description: 'seconds, at least accessTTL',
      }),
    ),
  ),
  locked: Type.Optional(orNull(Type.Boolean({ default: false }))),
  quotas: Type.Optional(orNull(quotasSchema)),
}
const accountBody = Type.Object(
  { account: referenceTo(Object.keys(accountSchema.properties)) },
  closed,
)

export function organizationRoutes(service: StateService): readonly Route[] {
  return [...crudRoutes(service), ...memberRoutes(service)]
}

function crudRoutes(service: StateService): readonly Route[] {
  const edit = editing(service, {
    keys: ['name', 'accessTTL', 'refreshTTL', 'locked', 'quotas'],
    find: findOrganization,
    view: toOrganizationView,
  })
  return [
    route({
      method: 'GET',
      path: '/organizations',
      operationId: 'listOrganizations',
      summary: 'All organizations; within one only that',
      errorKey,
      permission: read,
      query: listQuerySchema(organizationListFields),
      answers: { 200: Type.Array(wholeOrganizationSchema) },
      handle: async ({ actor, query }) => {
        const found = await listOrganizations(service, actor, query)
        return answerList(mapRows(found, toOrganizationView), found.total)
      },
    }),
    route({
      method: 'POST',
      path: '/organizations',
      operationId: 'createOrganization',
      summary: 'Makes an organization; for the system administrator',
      errorKey,
      permission: write,
      edit,
      body: Type.Object({ name: nameSchema, ...changeable }, closed),
      ignoredKeys,
      answers: { 201: wholeOrganizationSchema },
      handle: async ({ actor, body }) => ({
        status: 201,
        body: toOrganizationView(await createOrganization(service, actor, body)),
      }),
    }),
    route({
      method: 'GET',
      path: '/organizations/{id}',
      operationId: 'getOrganization',
      summary: 'One organization',
      errorKey,
      permission: read,
      edit,
      find: (_, actor, id) => findOrganization(service, actor, id),
      answers: { 200: wholeOrganizationSchema },
      handle: ({ object }) => Promise.resolve({ status: 200, body: toOrganizationView(object) }),
    }),
    route({
      method: 'PUT',
      path: '/organizations/{id}',
      operationId: 'updateOrganization',
      summary: 'Changes an organization; a lock acts within 5 s, lifetimes from the next refresh',
      errorKey,
      permission: write,
      edit,
      find: (_, actor, id) => findChangeableOrganization(service, actor, id),
      body: Type.Object({ name: Type.Optional(nameSchema), ...changeable }, closed),
      ignoredKeys,
      answers: { 200: wholeOrganizationSchema },
      handle: async ({ actor, object, body, guarded }) => ({
        status: 200,
        body: toOrganizationView(await updateOrganization(guarded, actor, object, body)),
      }),
    }),
    route({
      method: 'DELETE',
      path: '/organizations/{id}',
      operationId: 'deleteOrganization',
      summary: 'Deletes an organization with its users and tokens; 409 while it owns anything else',
      errorKey,
      permission: write,
      edit,
      find: (_, actor, id) => findChangeableOrganization(service, actor, id),
      answers: { 204: null },
      handle: async ({ object, guarded }) => {
        await deleteOrganization(guarded, object)
        return { status: 204 }
      },
    }),
  ]
}

function memberRoutes(service: StateService): readonly Route[] {
  return [
    route({
      method: 'PUT',
      path: '/organizations/{id}/assign',
      operationId: 'assignAccount',
      summary: 'Makes an account a user: the first as administrator, later ones as regular',
      errorKey,
      permission: write,
      find: (_, actor, id) => findChangeableOrganization(service, actor, id),
      body: accountBody,
      answers: { 200: wholeOrganizationSchema },
      handle: async ({ actor, object, body }) => {
        requireAccess(actor, 'account', 'read', errorKey)
        const organization = await assignAccount(service, actor, object, body.account)
        return { status: 200, body: toOrganizationView(organization) }
      },
    }),
    route({
      method: 'PUT',
      path: '/organizations/{id}/unassign',
      operationId: 'unassignAccount',
      summary: 'Takes an account out, with its permissions there; 409 for the last administrator',
      errorKey,
      permission: write,
      find: (_, actor, id) => findChangeableOrganization(service, actor, id),
      body: accountBody,
      answers: { 200: wholeOrganizationSchema },
      handle: async ({ actor, object, body }) => {
        requireAccess(actor, 'account', 'read', errorKey)
        const organization = await unassignAccount(service, actor, object, body.account)
        return { status: 200, body: toOrganizationView(organization) }
      },
    }),
  ]
}
