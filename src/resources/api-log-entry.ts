/** The API log: calls that changed something, and failed logins. */
import { id, integer, integerOrNull, text, time } from './common-fields.js'
import type { Answer, Resource } from './resource.js'

export const apiLogEntry = {
  noun: 'apilog',
  permission: 'apilog',
  event: 'apilog',
  path: '/apilogs',
  nameField: null,
  columns: ['id', 'created', 'severity', 'account', 'method', 'path', 'status', 'msg', 'traceId'],
  fields: {
    id,
    created: { ...time, column: 'createdAt' },
    severity: {
      kind: 'words',
      of: [1, 2, 3],
      description: '1 info, 2 warning (4xx), 3 error (5xx)',
    },
    msg: { ...text, title: 'message' },
    keyType: { ...text, description: 'What it was about: a resource in the singular' },
    keyId: integerOrNull,
    traceId: { ...text, title: 'trace' },
    account: text,
    method: text,
    path: text,
    status: integer,
    asksOnly: {
      kind: 'flag',
      description: 'a plan, a preview, a check, a renewed token: nothing was to change',
    },
  },
} as const satisfies Resource

export type ApiLogEntry = Answer<typeof apiLogEntry.fields>
