/** The OpenAPI 3.1 document of an API, made from the same routes that are served and the same schemas that validate. */
import type { TSchema } from 'typebox'
import type { Route } from './route.js'

export interface DocumentInfo {
  readonly title: string
  readonly version: string
  readonly description: string
  readonly prefix: string
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: object
  readonly description?: string
}

const lastEventId: Parameter = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  schema: { type: 'string' },
  description: 'the last event that the caller has; what follows it comes first',
}

const errorReference = { $ref: '#/components/responses/Error' }

export function describeApi(info: DocumentInfo, routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = (paths[`${info.prefix}${route.path}`] ??= {})
    path[route.method.toLowerCase()] = describeOperation(route)
  }
  const { title, version, description } = info
  return {
    openapi: '3.1.0',
    info: { title, version, description },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        basic: { type: 'http', scheme: 'basic' },
      },
      schemas: { Error: errorSchema },
      responses: {
        Error: {
          description: 'What was refused and why',
          headers: { 'X-Trace-Id': { schema: { type: 'string' } } },
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      },
    },
  }
}

const errorSchema = {
  type: 'object',
  required: ['traceId', 'errorKey', 'errorMsg'],
  properties: {
    traceId: { type: 'string', description: 'stands in the log lines of all processes' },
    errorKey: { type: 'string', description: 'scope of the error' },
    errorMsg: { type: 'string', description: 'for people' },
    message: { type: 'string', description: 'of an unknown path: as errorMsg' },
  },
}

function describeOperation(route: Route): object {
  const [, tag = ''] = route.path.split('/')
  const parameters = [
    ...pathParameters(route),
    ...queryParameters(route),
    ...(route.isStream === true ? [lastEventId] : []),
  ]
  return {
    operationId: route.operationId,
    summary: route.summary,
    tags: [tag],
    ...securityOf(route),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body ? { requestBody: describeBody(route, route.body) } : {}),
    responses: describeAnswers(route),
  }
}

/** The login is the one public call that takes HTTP basic credentials. */
function securityOf({ permission, path }: Route): object {
  if (permission !== 'public') return {}
  return { security: path === '/auth/login' ? [{ basic: [] }] : [] }
}

function pathParameters({ path }: Route): Parameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: name === 'id' ? { type: 'integer', minimum: 1 } : { type: 'string' },
  }))
}

function queryParameters({ query }: Route): Parameter[] {
  if (!query) return []
  const required: readonly string[] = 'required' in query ? query.required : []
  return Object.entries(query.properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
    ...descriptionOf(schema),
  }))
}

function descriptionOf(schema: TSchema): { description?: string } {
  return 'description' in schema && typeof schema.description === 'string'
    ? { description: schema.description }
    : {}
}

/** Read-only keys are accepted, so they are documented: what GET answered may be sent back. */
function describeBody({ ignoredKeys = [], bodyOptional }: Route, schema: TSchema): object {
  const properties: unknown = Reflect.get(schema, 'properties')
  const known = typeof properties === 'object' && properties !== null ? properties : {}
  const ignored = ignoredKeys.filter((key) => !(key in known))
  const readOnly = Object.fromEntries(
    ignored.map((key) => [key, { readOnly: true, description: 'accepted and ignored' }]),
  )
  const whole = { ...schema, properties: { ...known, ...readOnly }, additionalProperties: false }
  return {
    required: bodyOptional !== true,
    content: { 'application/json': { schema: whole } },
  }
}

function describeAnswers({ answers, isStream }: Route): object {
  const contentType = isStream === true ? 'text/event-stream' : 'application/json'
  const described: [string, object][] = Object.entries(answers).map(([status, schema]) => [
    status,
    {
      description: descriptions[status] ?? 'Done',
      ...(schema === null ? {} : { content: { [contentType]: { schema } } }),
    },
  ])
  return { ...Object.fromEntries(described), default: errorReference }
}

const descriptions: Readonly<Record<string, string>> = {
  200: 'Done',
  201: 'Made',
  202: 'Accepted: the wish is kept and work goes on',
  204: 'Done, nothing to say',
}
