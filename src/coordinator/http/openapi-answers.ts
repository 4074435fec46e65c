/** Responses of a call in the OpenAPI document: its success statuses, and the refusals that its route makes possible. */
import type { Route } from './route.js'

const errorReference = { $ref: '#/components/responses/Error' }

export const errorResponse = {
  description: 'What was refused and why',
  headers: { 'X-Trace-Id': { $ref: '#/components/headers/X-Trace-Id' } },
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
}

export const headers = {
  'X-Trace-Id': {
    description: 'In every answer: what was sent if it is 8 to 64 letters, digits, - and _',
    schema: { type: 'string' },
  },
  'X-Total-Count': {
    description: 'After filters, before take',
    schema: { type: 'integer', minimum: 0 },
  },
  ETag: {
    description:
      'Strong. Of two halves: the first changes when the object is edited, the second when its answer changes',
    schema: { type: 'string' },
  },
}

/** `default` covers statuses that are not listed: a conflict, a limit, a dependency that is down. */
export function describeAnswers(route: Route, moreRefusals: readonly number[]): object {
  const contentType = route.isStream === true ? 'text/event-stream' : 'application/json'
  const described = Object.entries(route.answers).map(([status, schema]): [string, object] => [
    status,
    {
      description: descriptions[status] ?? 'Done',
      ...(schema === null
        ? {}
        : { headers: headersOf(route), content: { [contentType]: { schema } } }),
    },
  ])
  const refusals = [...refusalsOf(route), ...moreRefusals].map((status): [number, object] => [
    status,
    errorReference,
  ])
  return {
    ...Object.fromEntries([...described, ...refusals]),
    ...(route.edit && route.method === 'GET' ? { 304: notChanged } : {}),
    default: errorReference,
  }
}

function headersOf({ edit, query }: Route): object {
  const isList = query !== undefined && 'take' in query.properties
  const names = ['X-Trace-Id', ...(edit ? ['ETag'] : []), ...(isList ? ['X-Total-Count'] : [])]
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** In the order of the checks. Every call may be 400, for an unknown parameter. */
function refusalsOf({ method, path, permission, body, edit }: Route): number[] {
  const isEdit = edit !== undefined && (method === 'PUT' || method === 'DELETE')
  return [
    ...(permission === 'public' ? [] : [401]),
    ...(typeof permission === 'object' ? [403] : []),
    ...(path.includes('{') ? [404] : []),
    ...(body ? [415, 413] : []),
    400,
    ...(isEdit ? [412] : []),
  ]
}

const notChanged = {
  description: 'The answer is the one that If-None-Match names',
  headers: { ETag: { $ref: '#/components/headers/ETag' } },
}

const descriptions: Readonly<Record<string, string>> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted: the deploy is pending and work goes on',
  204: 'Done, nothing to say',
}
