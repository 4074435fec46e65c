/** `/sessions`: lists and ends sessions, and creates long-lived tokens for programs. */
import { Type } from 'typebox'
import { permissionTypes, toPermissions } from '../../resources/permission.js'
import { apiToken, session } from '../../resources/session.js'
import { nameSchema } from '../api/references.js'
import { answeredAs, deleteRoute, listRoute } from '../api/resource-routes.js'
import { answerSchema } from '../api/resource-schemas.js'
import { toSeconds } from '../api/times.js'
import { route, type Route } from '../http/route.js'
import { createApiToken } from './api-tokens.js'
import type { Identity } from './identity.js'
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
      description: 'seconds since 1970, at most a year ahead',
    }),
    permissions: Type.Array(wantedPermission, {
      minItems: 1,
      maxItems: permissionTypes.length,
    }),
  },
  closed,
)

function compute({ limits, refreshExpiresAt }: ListedSession) {
  return {
    permissions: limits && toPermissions(limits),
    refreshExpire: refreshExpiresAt === 0 ? null : toSeconds(refreshExpiresAt),
  }
}

export function sessionRoutes(identity: Identity): readonly Route[] {
  const { service } = identity
  return [
    listRoute(service, {
      ...sessionReading,
      ...answeredAs(session.fields, compute),
      resource: session,
      title: 'Session',
      summaries: { list: 'Sessions and API tokens that live' },
    }),
    route({
      method: 'POST',
      path: '/sessions',
      operationId: 'createApiToken',
      summary:
        "Creates a long-lived API token with some of its creator's rights; shown only in this answer",
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
    deleteRoute(service, {
      find: sessionReading.find,
      resource: session,
      title: 'Session',
      summaries: { delete: 'Ends a session: its tokens are refused within 5 s' },
      remove: (_, { id }) => endSession(service, id),
    }),
  ]
}
