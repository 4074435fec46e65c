/** Composes the OpenAPI 3.1 document of an API from the routes that are served and the schemas that validate. */
import type { TSchema } from 'typebox'
import { describeAnswers, errorResponse, headers } from './openapi-answers.js'
import { describeBody } from './openapi-bodies.js'
import type { Route } from './route.js'

interface DocumentInfo {
  readonly title: string
  readonly version: string
  readonly description: string
  readonly prefix: string
  /** By name, in OpenAPI form; each of `required` alone is sufficient for a call that is not public. */
  readonly securitySchemes: Readonly<Record<string, object>>
  readonly required: readonly string[]
  /** Optional credentials of public calls, by path. */
  readonly ofPublic: Readonly<Record<string, readonly string[]>>
  /** Schema of every error body. */
  readonly errorSchema: object
  readonly describeParameter: (name: string) => object
  /** Further refusals beside those that a route makes possible. */
  readonly moreRefusals: (route: Route) => readonly number[]
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

export function describeApi(info: DocumentInfo, routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = (paths[`${info.prefix}${route.path}`] ??= {})
    path[route.method.toLowerCase()] = describeOperation(route, info)
  }
  const { title, version, description, securitySchemes, required, errorSchema } = info
  return {
    openapi: '3.1.0',
    info: { title, version, description, license },
    servers: [{ url: '/' }],
    security: required.map((name) => ({ [name]: [] })),
    paths,
    components: {
      securitySchemes,
      schemas: { Error: errorSchema },
      responses: { Error: errorResponse },
      headers,
    },
  }
}

const license = { name: 'Apache License 2.0', identifier: 'Apache-2.0' }

function describeOperation(route: Route, info: DocumentInfo): object {
  const parameters = [
    ...pathParameters(route, info),
    ...queryParameters(route),
    ...(route.isStream === true ? [lastEventId] : []),
    ...conditionParameters(route),
  ]
  return {
    operationId: route.operationId,
    summary: route.summary,
    tags: [tagOf(route)],
    ...securityOf(route, info),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body ? { requestBody: describeBody(route, route.body) } : {}),
    responses: describeAnswers(route, info.moreRefusals(route)),
  }
}

/** Returns the first path segment that names the resource. */
function tagOf({ path }: Route): string {
  return path.split('/').find((step) => step !== '' && step !== 'v1') ?? ''
}

function securityOf({ permission, path }: Route, { ofPublic }: DocumentInfo): object {
  if (permission !== 'public') return {}
  return { security: (ofPublic[path] ?? []).map((name) => ({ [name]: [] })) }
}

function pathParameters({ path }: Route, { describeParameter }: DocumentInfo): Parameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: describeParameter(name),
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

/** RFC 9110, 13.1. */
function conditionParameters({ edit, method }: Route): Parameter[] {
  if (!edit || method === 'POST') return []
  const [name, description] =
    method === 'GET'
      ? ['If-None-Match', 'ETags that you have: 304 when the answer is still the same']
      : ['If-Match', 'ETags as you read them: 412, and no change, when somebody edited it since']
  return [{ name, in: 'header', required: false, schema: { type: 'string' }, description }]
}

function descriptionOf(schema: TSchema): { description?: string } {
  return 'description' in schema && typeof schema.description === 'string'
    ? { description: schema.description }
    : {}
}
