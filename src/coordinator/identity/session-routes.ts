/** `/sessions`: who is logged in, how to end that, and long-lived tokens for programs. */
import { Type } from 'typebox'
import { permissionTypes } from '../../resources/permission.js'
import { apiToken, session } from '../../resources/session.js'
import { nameSchema } from '../api/references.js'
import { deleteRoute, listRoute, type Calls } from '../api/noun-routes.js'
import { answerSchema } from '../api/resource-schemas.js'
import { route, type Route } from '../http/route.js'
import { createApiToken } from './api-tokens.js'
import type { Identity } from './identity.js'
import { sessionSchema, toSessionView } from './identity-views.js'
import { sessionReading, type ListedSession } from './session-queries.js'
import { endSession } from './sessions.js'

const closed = { additionalProperties: false }

const wantedPermission = Type.Object(
  {
    type: Type.Enum([...permissionTypes]),
    read: Type.Optional(Type.Boolean({ default: false })),
    write: Type.Optional(Type.Boolean({ default: false, description: 'implies read' })),
  },
  closed,
)

const apiTokenBody = Type.Object(
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
)

export function sessionRoutes(identity: Identity): readonly Route[] {
  const { service } = identity
  const calls: Calls<ListedSession> = {
    service,
    resource: session,
    named: 'Session',
    reading: sessionReading,
    schema: sessionSchema,
    view: toSessionView,
  }
  return [
    listRoute(calls, 'Sessions and API tokens that live'),
    route({
      method: 'POST',
      path: '/sessions',
      operationId: 'createApiToken',
      summary: "Makes a long-lived API token with a part of its maker's rights; shown only here",
      errorKey: 'session',
      permission: { type: 'session', access: 'write' },
      body: apiTokenBody,
      ignoredKeys: ['id', 'created', 'lastUsed', 'accessExpire', 'refreshExpire'],
      answers: { 201: answerSchema(apiToken) },
      handle: async ({ actor, body }) => {
        const permissions = body.permissions.map(({ type, read = false, write = false }) => ({
          type,
          read,
          write,
        }))
        const made = await createApiToken(identity, actor, { ...body, permissions })
        return { status: 201, body: made }
      },
    }),
    deleteRoute(calls, null, {
      summary: 'Ends a session: its tokens are worth nothing within 5 s',
      run: (_, { id }) => endSession(service, id),
    }),
  ]
}
