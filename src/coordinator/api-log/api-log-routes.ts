/** `/apilogs`: every call that was no GET, and every failed login. */
import { apiLogEntry } from '../../resources/api-log-entry.js'
import { answerMaker } from '../api/resource-answers.js'
import { listRoute } from '../api/resource-routes.js'
import { answerSchema } from '../api/resource-schemas.js'
import type { Route } from '../http/route.js'
import type { StateService } from '../service.js'
import { rowReader } from '../store/resource-rows.js'
import { apiLogColumns, selectApiLogs, type ApiLogRecord } from './api-log-queries.js'

export const apiLogSchema = answerSchema(apiLogEntry.fields)

export function apiLogRoutes(service: StateService): readonly Route[] {
  return [
    listRoute(service, {
      resource: apiLogEntry,
      title: 'ApiLog',
      summaries: { list: 'Calls that were no GET, and failed logins' },
      listing: { columns: apiLogColumns, select: selectApiLogs, read: (_, rows) => rows },
      listed: apiLogSchema,
      toListed: toApiLogView,
    }),
  ]
}

const readStored = rowReader(apiLogEntry.fields)
const makeAnswer = answerMaker(apiLogEntry.fields)

export function toApiLogView(row: ApiLogRecord) {
  return makeAnswer(readStored(row), {})
}
