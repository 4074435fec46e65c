/** Calls by their operationId, each answer held against the OpenAPI document that the coordinator itself serves. */
import type { TSchema } from 'typebox'
import { describeMismatch, prepareCheck } from '../../src/coordinator/http/mismatch.js'

type Json = Record<string, unknown>

export interface Given {
  /** Of the path. */
  readonly at?: Readonly<Record<string, string | number>>
  /** With its question mark. */
  readonly query?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Null: none. The one of all calls otherwise. */
  readonly token?: string | null
}

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Json
}

export interface DocumentedOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly isPublic: boolean
  /** By status; `default` too. */
  readonly responses: Readonly<Record<string, Json>>
}

export interface DocumentedApi {
  readonly operations: readonly DocumentedOperation[]
  /** Throws when the answer is not what the document says. */
  call(operationId: string, given?: Given): Promise<Answered>
  /** Operations that were never answered so. */
  without(kind: 'success' | 'error'): readonly DocumentedOperation[]
}

export async function openDocument(base: string, token: string): Promise<DocumentedApi> {
  const document = resolveReferences(await (await fetch(`${base}/docs/openapi.json`)).json())
  const operations = readOperations(document)
  const checks = new Map<object, ReturnType<typeof prepareCheck>>()
  const seen = { success: new Set<string>(), error: new Set<string>() }

  const check = (operation: DocumentedOperation, answer: Answered): void => {
    const { responses } = operation
    const response =
      responses[answer.status] ?? (answer.status >= 400 ? responses['default'] : null)
    if (!response) throw new Error('its status is not documented')
    for (const name of Object.keys(asJson(response['headers'])))
      if (!answer.headers.has(name)) throw new Error(`it has no ${name}`)
    const schema = readSchema(response)
    if (schema === undefined) {
      if (answer.text !== '') throw new Error('it has a body, and none is documented')
      return
    }
    const findMismatch = checks.get(schema) ?? prepareCheck(schema)
    checks.set(schema, findMismatch)
    const mismatch = findMismatch(JSON.parse(answer.text))
    if (mismatch) throw new Error(describeMismatch(mismatch))
  }

  return {
    operations,
    call: async (operationId, given = {}) => {
      const operation = operations.find(({ id }) => id === operationId)
      if (!operation) throw new Error(`no operation ${operationId} is documented`)
      const answer = await send(base, operation, { token, ...given })
      try {
        check(operation, answer)
      } catch (error) {
        const what = `${operation.method} ${operation.path}: ${answer.status} ${answer.text.slice(0, 300)}`
        throw new Error(`${what}\n${String(error)}`, { cause: error })
      }
      seen[answer.status < 400 ? 'success' : 'error'].add(operationId)
      return answer
    },
    without: (kind) => operations.filter(({ id }) => !seen[kind].has(id)),
  }
}

async function send(
  base: string,
  { method, path }: DocumentedOperation,
  { at = {}, query = '', body, headers = {}, token }: Given,
): Promise<Answered> {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(at[name] ?? 1)),
  )
  const response = await fetch(`${base}${filled}${query}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(typeof token === 'string' ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const type = response.headers.get('content-type') ?? ''
  const isStream = type.startsWith('text/event-stream')
  if (isStream) await response.body?.cancel() // it has no end
  const text = isStream ? '' : await response.text()
  const isJson = /^application\/json/.test(type)
  const parsed: unknown = isJson ? JSON.parse(text) : {}
  return { status: response.status, headers: response.headers, text, body: asJson(parsed) }
}

function readOperations(document: Json): DocumentedOperation[] {
  return Object.entries(asJson(document['paths'])).flatMap(([path, methods]) =>
    Object.entries(asJson(methods)).map(([method, described]) => {
      const { operationId, security, responses } = asJson(described)
      return {
        id: String(operationId),
        method: method.toUpperCase(),
        path,
        isPublic: security !== undefined,
        responses: asJson(responses) as Record<string, Json>, // OpenAPI's own form
      }
    }),
  )
}

function readSchema(response: Json): TSchema | undefined {
  const { schema } = asJson(asJson(response['content'])['application/json'])
  return schema as TSchema | undefined // what the document says is a schema
}

/** With what they refer to in their places. */
function resolveReferences(document: unknown): Json {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    if ('$ref' in value) return resolve(follow(document, String(value.$ref)))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]))
  }
  return asJson(resolve(document))
}

function follow(document: unknown, reference: string): unknown {
  const [, ...keys] = reference.split('/')
  return keys.reduce((at, key) => asJson(at)[key], document)
}

function asJson(value: unknown): Json {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
