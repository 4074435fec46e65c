/** Reads the body of a call: checks before the schema, and discards bodies that are not read. */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { setImmediate as servedOthers } from 'node:timers/promises'
import { findJsonExcess, type JsonLimits } from '../../json-excess.js'
import { FleetError } from '../../errors.js'
import type { BodyType } from './route.js'

export const bodyLimitBytes = 10 * 1024 * 1024
/** Limit for callers that are not authenticated yet; a login or a one-time code takes a few hundred bytes. */
export const publicBodyLimitBytes = 64 * 1024
/** Limit of JSON members: the plan of a folder of 1,000 groups has some 30,000. */
const jsonLimits: JsonLimits = { depth: 64, members: 100_000, keys: 10_000 }
/** The rest of a refused body is read and discarded up to this limit, so that the caller can read the answer. */
const unreadLimitBytes = 64 * 1024 * 1024
const unreadTimeoutMs = 5_000

export const mediaTypes: Readonly<Record<BodyType, string>> = {
  json: 'application/json',
  text: 'text/plain',
  form: 'application/x-www-form-urlencoded',
}
const longBodyBytes = 256 * 1024
/** Names used in error messages. */
export const bodyWords: Readonly<Record<BodyType, string>> = {
  json: 'a JSON object',
  text: 'a text',
  form: 'a form',
}
const typePattern = /^[\w./+-]+$/
/** Allowed after the type: nothing, or a charset with an optional trailing semicolon. */
const parameterPattern = /^(?:charset\s*=\s*"?utf-8"?)?$/i

/** Returns the format of the announced body, null if there is none. Throws FleetError 'unsupported-type'. */
export function readBodyType(
  request: IncomingMessage,
  allowed: readonly BodyType[] = ['json'],
): BodyType | null {
  const { headers } = request
  if (!announcesBody(request)) {
    // The framework would refuse a malformed type even if no body follows.
    delete headers['content-type']
    return null
  }
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new FleetError(
      'unsupported-type',
      'body',
      'the body is compressed (Content-Encoding); send it as it is',
    )
  const given = readMediaType(headers['content-type'] ?? '')
  const chosen = allowed.find((one) => mediaTypes[one] === given)
  if (chosen !== undefined) return chosen
  const right = allowed.map((one) => `"Content-Type: ${mediaTypes[one]}"`).join(' or ')
  throw new FleetError('unsupported-type', 'body', `the body needs ${right}, in UTF-8`)
}

/** Returns undefined for an empty body. Throws FleetError 'invalid'. */
export async function parseBody(bytes: Buffer, type: BodyType, textKey = 'text'): Promise<unknown> {
  if (bytes.length === 0) return undefined
  if (type === 'json') return parseJson(bytes)
  const text = decode(bytes)
  return type === 'text' ? { [textKey]: text } : Object.fromEntries(new URLSearchParams(text))
}

/** Translates the framework's errors while reading a body into responses; other errors are passed on. */
export function explainUnread(
  error: unknown,
  request: IncomingMessage,
  limitBytes: number,
): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new FleetError('too-large', 'body', `the body is over ${limitBytes} bytes`)
  if (code === 'ECONNRESET' && !request.complete)
    return new FleetError('invalid', 'body', 'the connection closed in the middle of the body')
  return error
}

/** Discards the rest of the body, which would otherwise stay in the connection after an early answer. */
export function dropUnreadBody(request: IncomingMessage): void {
  if (!hasUnreadBody(request)) return
  let droppedBytes = 0
  request.on('data', (chunk: Buffer) => {
    droppedBytes += chunk.length
    if (droppedBytes > unreadLimitBytes) request.destroy()
  })
}

/**
 * Call before an answer that ends the connection: closing a connection that still receives data resets it, and the caller may
 * never see the answer. Resolves at the end of the body, or when it takes too long.
 */
export async function outlastBody(request: IncomingMessage): Promise<void> {
  if (!hasUnreadBody(request) || request.destroyed) return
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, unreadTimeoutMs)
    request.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

function hasUnreadBody(request: IncomingMessage): boolean {
  return !request.complete && announcesBody(request)
}

function announcesBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length']
  return (
    (length !== undefined && length !== '0') || request.headers['transfer-encoding'] !== undefined
  )
}

/** Returns the type in lower case; null for another charset or an invalid type. */
function readMediaType(header: string): string | null {
  const [type = '', charset = '', last = '', ...more] = header
    .split(';', 5)
    .map((part) => part.trim())
  const isRead = typePattern.test(type) && parameterPattern.test(charset)
  return isRead && last === '' && more.length === 0 ? type.toLowerCase() : null
}

/** Validates a large body in steps, so that none of them holds the event loop for long. */
async function parseJson(bytes: Buffer): Promise<unknown> {
  const problem = findJsonExcess(bytes, jsonLimits)
  if (problem !== null) throw new FleetError('invalid', 'body', `the body ${problem}`)
  if (bytes.length > longBodyBytes) await servedOthers()
  const text = decode(bytes)
  if (bytes.length > longBodyBytes) await servedOthers()
  try {
    const value: unknown = JSON.parse(text)
    if (bytes.length > longBodyBytes) await servedOthers()
    return value
  } catch (error) {
    // The parser's own message quotes the body, which may contain a password.
    const [, position] = /position (\d+)/.exec(String(error)) ?? []
    const where = position === undefined ? '' : ` (at character ${position})`
    throw new FleetError('invalid', 'body', `the body is not valid JSON${where}`)
  }
}

function decode(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new FleetError('invalid', 'body', 'the body is not valid UTF-8')
  return bytes.toString('utf8')
}
