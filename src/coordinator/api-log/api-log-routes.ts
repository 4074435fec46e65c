/** `/apilogs`: every call that was no GET, and every failed login. */
import { Type } from 'typebox'
import { answerList, route, type Route } from '../http/route.js'
import { apiLogListFields, listApiLogs, type ApiLogRecord } from './api-log-list.js'
import { mapRows } from '../store/long-list.js'
import type { StateService } from '../service.js'
import { idSchema, listQuerySchema, orNull, timeSchema } from '../api/references.js'
import { toIso } from '../api/times.js'

export const apiLogSchema = Type.Object(
  {
    id: idSchema,
    created: timeSchema,
    severity: Type.Integer({ description: '1 info, 2 warning (4xx), 3 error (5xx)' }),
    msg: Type.String(),
    keyType: Type.String({ description: 'What it was about: a resource in the singular' }),
    keyId: orNull(Type.Integer()),
    traceId: Type.String(),
    account: Type.String(),
    method: Type.String(),
    path: Type.String(),
    status: Type.Integer(),
    asksOnly: Type.Boolean({
      description: 'a plan, a preview, a check, a renewed token: nothing was to change',
    }),
  },
  { additionalProperties: false },
)

export function apiLogRoutes(service: StateService): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/apilogs',
      operationId: 'listApiLogs',
      summary: 'Calls that were no GET, and failed logins',
      errorKey: 'apilog',
      permission: { type: 'apilog', access: 'read' },
      query: listQuerySchema(apiLogListFields),
      answers: { 200: Type.Array(apiLogSchema) },
      handle: async ({ actor, query }) => {
        const found = await listApiLogs(service, actor, query)
        return answerList(mapRows(found, toApiLogView), found.total)
      },
    }),
  ]
}

export function toApiLogView(log: ApiLogRecord) {
  return {
    id: log.id,
    created: toIso(log.createdAt),
    severity: log.severity,
    msg: log.msg,
    keyType: log.keyType,
    keyId: log.keyId,
    traceId: log.traceId,
    account: log.account,
    method: log.method,
    path: log.path,
    status: log.status,
    asksOnly: log.asksOnly === 1,
  }
}
