/** `/sessions`: who is logged in, and how to end that. */
import { Type } from 'typebox'
import { answerList, route, type Route } from '../http/route.js'
import {
  endSession,
  findVisibleSession,
  listVisibleSessions,
  sessionListFields,
} from '../state-service/sessions.js'
import type { StateService } from '../state-service/service.js'
import { idSchema, listQuerySchema, orNull, referenceSchema, timeSchema } from './references.js'
import { toIso } from './views.js'

const errorKey = 'session'
const expirySchema = Type.Integer({ description: 'seconds since 1970' })

const sessionSchema = Type.Object(
  {
    id: idSchema,
    account: referenceSchema,
    organization: orNull(referenceSchema),
    label: Type.String({ description: 'empty: a login' }),
    created: timeSchema,
    lastUsed: timeSchema,
    accessExpire: expirySchema,
    refreshExpire: expirySchema,
  },
  { additionalProperties: false },
)

export function sessionRoutes(service: StateService): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/sessions',
      operationId: 'listSessions',
      summary: 'Sessions that live',
      errorKey,
      permission: { type: 'session', access: 'read' },
      query: listQuerySchema(sessionListFields),
      answers: { 200: Type.Array(sessionSchema) },
      handle: async ({ actor, query }) => {
        const { rows, total } = await listVisibleSessions(service, actor, query)
        return answerList(rows.map(toSessionView), total)
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

type SessionView = Awaited<ReturnType<typeof listVisibleSessions>>['rows'][number]

function toSessionView(session: SessionView): object {
  return {
    id: session.id,
    account: { id: session.accountId, name: session.accountName },
    organization: session.organization,
    label: session.label,
    created: toIso(session.createdAt),
    lastUsed: toIso(session.lastUsedAt),
    accessExpire: Math.floor(session.accessExpiresAt / 1000),
    refreshExpire: Math.floor(session.refreshExpiresAt / 1000),
  }
}
