/** `/sessions`: who is logged in, how to end that, and long-lived tokens for programs. */
import { Type } from 'typebox'
import { permissionTypes } from '../../resources/permission.js'
import { answerList, route, type Route } from '../http/route.js'
import { createApiToken } from './api-tokens.js'
import type { Identity } from './identity.js'
import { mapRows } from '../store/long-list.js'
import {
  endSession,
  findVisibleSession,
  listVisibleSessions,
  sessionListFields,
} from './sessions.js'
import { expirySchema, sessionSchema, toSessionView } from './identity-views.js'
import { idSchema, listQuerySchema, nameSchema } from '../api/references.js'

const errorKey = 'session'
const closed = { additionalProperties: false }

const wantedPermission = Type.Object(
  {
    type: Type.Enum([...permissionTypes]),
    read: Type.Optional(Type.Boolean({ default: false })),
    write: Type.Optional(Type.Boolean({ default: false, description: 'implies read' })),
  },
  closed,
)

const apiTokenSchema = Type.Object(
  { id: idSchema, label: Type.String(), accessToken: Type.String(), accessExpire: expirySchema },
  closed,
)

export function sessionRoutes(identity: Identity): readonly Route[] {
  const { service } = identity
  return [
    route({
      method: 'GET',
      path: '/sessions',
      operationId: 'listSessions',
      summary: 'Sessions and API tokens that live',
      errorKey,
      permission: { type: 'session', access: 'read' },
      query: listQuerySchema(sessionListFields),
      answers: { 200: Type.Array(sessionSchema) },
      handle: async ({ actor, query }) => {
        const found = await listVisibleSessions(service, actor, query)
        return answerList(mapRows(found, toSessionView), found.total)
      },
    }),
    route({
      method: 'POST',
      path: '/sessions',
      operationId: 'createApiToken',
      summary: "Makes a long-lived API token with a part of its maker's rights; shown only here",
      errorKey,
      permission: { type: 'session', access: 'write' },
      body: Type.Object(
        {
          label: nameSchema,
          expire: Type.Integer({
            minimum: 1,
            description: 'seconds since 1970, at most a year away',
          }),
          permissions: Type.Array(wantedPermission, {
            minItems: 1,
            maxItems: permissionTypes.length,
          }),
        },
        closed,
      ),
      ignoredKeys: ['id', 'created', 'lastUsed', 'accessExpire', 'refreshExpire'],
      answers: { 201: apiTokenSchema },
      handle: async ({ actor, body }) => {
        const permissions = body.permissions.map(({ type, read = false, write = false }) => ({
          type,
          read,
          write,
        }))
        return {
          status: 201,
          body: await createApiToken(identity, actor, { ...body, permissions }),
        }
      },
    }),
    route({
      method: 'DELETE',
      path: '/sessions/{id}',
      operationId: 'deleteSession',
      summary: 'Ends a session: its tokens are worth nothing within 5 s',
      errorKey,
      permission: { type: 'session', access: 'write' },
      find: (_context, actor, id) => findVisibleSession(service, actor, id),
      answers: { 204: null },
      handle: async ({ object }) => {
        await endSession(service, object.id)
        return { status: 204 }
      },
    }),
  ]
}
