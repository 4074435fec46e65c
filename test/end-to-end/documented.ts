/** Calls by their operationId, and checks each answer against the OpenAPI document that the coordinator itself serves. */
import { readApiDocument, type DocumentedOperation } from '../support/api-document.js'

type Json = Record<string, unknown>

export interface Given {
  /** Parameters of the path. */
  readonly at?: Readonly<Record<string, string | number>>
  /** With its question mark. */
  readonly query?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Null: no token. By default, the token of all calls. */
  readonly token?: string | null
}

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Json
}

export interface DocumentedApi {
  readonly operations: readonly DocumentedOperation[]
  /** Throws if the answer does not conform to the document. */
  call(operationId: string, given?: Given): Promise<Answered>
  /** Operations that have had no such answer. */
  without(kind: 'success' | 'error'): readonly DocumentedOperation[]
}

export async function openDocument(base: string, token: string): Promise<DocumentedApi> {
  const { operations, check } = await readApiDocument(base, 'openapi.json')
  const seen = { success: new Set<string>(), error: new Set<string>() }
  return {
    operations,
    call: async (operationId, given = {}) => {
      const operation = operations.find(({ id }) => id === operationId)
      if (!operation) throw new Error(`no operation ${operationId} is documented`)
      const answer = await send(base, operation, { token, ...given })
      check(operation, answer)
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

function asJson(value: unknown): Json {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
