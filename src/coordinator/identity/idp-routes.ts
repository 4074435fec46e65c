/** `/idps`: where an organization's people log in instead of here. The client secret goes in and never out. */
import { Type } from 'typebox'
import type { Actor } from '../../resources/permission.js'
import { answerList, route, type Route } from '../http/route.js'
import type { Identity } from './identity.js'
import { mapRows } from '../store/long-list.js'
import {
  changeIdp,
  createIdp,
  deleteIdp,
  findIdp,
  idpListFields,
  listIdps,
  type IdpRecord,
} from './idps.js'
import { editing } from '../api/editing.js'
import {
  idSchema,
  listQuerySchema,
  orNull,
  ownerReference,
  readOnlyKeys,
  referenceSchema,
  timeSchema,
} from '../api/references.js'
import { toIso } from '../api/times.js'

const errorKey = 'idp'
const read = { type: 'idp', access: 'read' } as const
const write = { type: 'idp', access: 'write' } as const
const closed = { additionalProperties: false }

const baseUrlSchema = Type.String({
  description: "the provider's issuer: https, or http on loopback; nothing link-local, no metadata",
  examples: ['https://idp.example.com/realms/web'],
})
const clientIdSchema = Type.String({ description: 'what the provider knows this service as' })
const optionalFields = {
  clientSecret: Type.Optional(
    orNull(Type.String({ description: 'never answered; null: a client without one' })),
  ),
  scopes: Type.Optional(
    orNull(
      Type.Union([Type.Array(Type.String()), Type.String()], {
        description: 'a list, or words separated by blanks; openid is always asked for',
      }),
    ),
  ),
  roleClaim: Type.Optional(
    orNull(
      Type.String({
        description:
          'claim (or path to one, a.b) whose values administrator, regular, <type>:read and <type>:write ' +
          'decide at every login what people may do; empty: nothing is mapped',
      }),
    ),
  ),
}

const idpSchema = Type.Object(
  {
    id: idSchema,
    organization: referenceSchema,
    baseURL: baseUrlSchema,
    clientID: clientIdSchema,
    scopes: Type.Array(Type.String()),
    roleClaim: Type.String(),
    created: timeSchema,
    updated: timeSchema,
  },
  closed,
)

export function idpRoutes(identity: Identity): readonly Route[] {
  const { service } = identity
  const find = (_: unknown, actor: Actor, id: number) => findIdp(service, actor, id)
  const edit = editing(service, {
    keys: ['baseURL', 'clientID', 'scopes', 'roleClaim', 'updated'],
    find: findIdp,
    view: toIdpView,
  })
  return [
    route({
      method: 'GET',
      path: '/idps',
      operationId: 'listIdps',
      summary: 'Identity providers',
      errorKey,
      permission: read,
      query: listQuerySchema(idpListFields),
      answers: { 200: Type.Array(idpSchema) },
      handle: async ({ actor, query }) => {
        const found = await listIdps(service, actor, query)
        return answerList(mapRows(found, toIdpView), found.total)
      },
    }),
    route({
      method: 'POST',
      path: '/idps',
      operationId: 'createIdp',
      summary: 'Sets up the identity provider of an organization, which has one',
      errorKey,
      permission: write,
      edit,
      body: Type.Object(
        {
          baseURL: baseUrlSchema,
          clientID: clientIdSchema,
          ...optionalFields,
          organization: ownerReference,
        },
        closed,
      ),
      ignoredKeys: readOnlyKeys,
      answers: { 201: idpSchema },
      handle: async ({ actor, body }) => ({
        status: 201,
        body: toIdpView(await createIdp(identity, actor, body)),
      }),
    }),
    route({
      method: 'GET',
      path: '/idps/{id}',
      operationId: 'getIdp',
      summary: 'One identity provider',
      errorKey,
      permission: read,
      edit,
      find,
      answers: { 200: idpSchema },
      handle: ({ object }) => Promise.resolve({ status: 200, body: toIdpView(object) }),
    }),
    route({
      method: 'PUT',
      path: '/idps/{id}',
      operationId: 'updateIdp',
      summary:
        'Changes an identity provider; a changed baseURL forgets the clientSecret unless it is given too',
      errorKey,
      permission: write,
      edit,
      find,
      body: Type.Object(
        {
          baseURL: Type.Optional(baseUrlSchema),
          clientID: Type.Optional(clientIdSchema),
          ...optionalFields,
        },
        closed,
      ),
      ignoredKeys: readOnlyKeys,
      answers: { 200: idpSchema },
      handle: async ({ actor, object, body, guarded }) => ({
        status: 200,
        body: toIdpView(await changeIdp({ ...identity, service: guarded }, actor, object, body)),
      }),
    }),
    route({
      method: 'DELETE',
      path: '/idps/{id}',
      operationId: 'deleteIdp',
      summary: 'Ends logging in by an identity provider; accounts that came in by it stay',
      errorKey,
      permission: write,
      edit,
      find,
      answers: { 204: null },
      handle: async ({ object, guarded }) => {
        await deleteIdp(guarded, object)
        return { status: 204 }
      },
    }),
  ]
}

function toIdpView(idp: IdpRecord) {
  return {
    id: idp.id,
    organization: idp.organization,
    baseURL: idp.baseUrl,
    clientID: idp.clientId,
    scopes: idp.scopes,
    roleClaim: idp.roleClaim,
    created: toIso(idp.createdAt),
    updated: toIso(idp.updatedAt),
  }
}
