/** The OpenAPI document that a coordinator serves: its operations, and whether a response conforms to it. */
import type { TSchema } from 'typebox'
import { describeMismatch, prepareCheck } from '../../src/mismatch.js'

type Json = Record<string, unknown>

interface DocumentedAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface DocumentedOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly isPublic: boolean
  /** By status, including `default`. */
  readonly responses: Readonly<Record<string, Json>>
}

interface ApiDocument {
  readonly operations: readonly DocumentedOperation[]
  /** Throws when the response does not conform to the document. */
  readonly check: (operation: DocumentedOperation, answer: DocumentedAnswer) => void
}

/** `name`: of the file in `/docs`; `isClosed`: responses may have documented keys only. */
export async function readApiDocument(
  base: string,
  name: string,
  isClosed = false,
): Promise<ApiDocument> {
  const document = resolveReferences(await (await fetch(`${base}/docs/${name}`)).json())
  const checks = new Map<object, ReturnType<typeof prepareCheck>>()
  const compare = ({ responses }: DocumentedOperation, answer: DocumentedAnswer): void => {
    const response =
      responses[answer.status] ?? (answer.status >= 400 ? responses['default'] : null)
    if (!response) throw new Error('its status is not documented')
    for (const header of Object.keys(asJson(response['headers'])))
      if (!answer.headers.has(header)) throw new Error(`it has no ${header}`)
    const schema = readSchema(response)
    if (schema === undefined) {
      if (answer.text !== '') throw new Error('it has a body, and none is documented')
      return
    }
    const findMismatch =
      checks.get(schema) ?? prepareCheck(isClosed ? closeObjects(schema) : schema)
    checks.set(schema, findMismatch)
    const mismatch = findMismatch(JSON.parse(answer.text))
    if (mismatch) throw new Error(describeMismatch(mismatch))
  }
  return {
    operations: readOperations(document),
    check: (operation, answer) => {
      try {
        compare(operation, answer)
      } catch (error) {
        const what = `${operation.method} ${operation.path}: ${answer.status} ${answer.text.slice(0, 300)}`
        throw new Error(`${what}\n${String(error)}`, { cause: error })
      }
    },
  }
}

function closeObjects(schema: TSchema): TSchema {
  const close = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(close)
    if (typeof value !== 'object' || value === null) return value
    const inner = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, close(one)]))
    const isOpen = 'properties' in value && !('additionalProperties' in value)
    return isOpen ? { ...inner, additionalProperties: false } : inner
  }
  return close(schema) as TSchema // with one more keyword
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
  return schema as TSchema | undefined // a schema according to the document
}

/** Replaces references by their targets. */
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
