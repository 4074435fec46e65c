/** A call's body: what is refused before any schema sees it, and what is done with a body that nobody reads. */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { setImmediate as servedOthers } from 'node:timers/promises'
import { findJsonExcess, type JsonLimits } from '../../json-excess.js'
import { FleetError } from '../../errors.js'
import type { BodyType } from './route.js'

export const bodyLimitBytes = 10 * 1024 * 1024
/** For callers that are not authenticated yet; a login or a one-time code takes a few hundred bytes. */
export const publicBodyLimitBytes = 64 * 1024
/** The members: the plan of a folder of 1,000 groups has some 30,000. */
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
/** As messages call them. */
export const bodyWords: Readonly<Record<BodyType, string>> = {
  json: 'a JSON object',
  text: 'a text',
  form: 'a form',
}
const typePattern = /^[\w./+-]+$/
/** Behind the type: nothing, this, and maybe a last semicolon. */
const parameterPattern = /^(?:charset\s*=\s*"?utf-8"?)?$/i

/** How the body that the call announces is written; null: it announces none. Throws FleetError 'unsupported-type'. */
export function readBodyType(
  request: IncomingMessage,
  allowed: readonly BodyType[] = ['json'],
): BodyType | null {
  const { headers } = request
  if (!announcesBody(request)) {
    // The framework would refuse a malformed one even where no body follows.
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

/** Undefined when the body is empty. Throws FleetError 'invalid'. */
export async function parseBody(bytes: Buffer, type: BodyType, textKey = 'text'): Promise<unknown> {
  if (bytes.length === 0) return undefined
  if (type === 'json') return parseJson(bytes)
  const text = decode(bytes)
  return type === 'text' ? { [textKey]: text } : Object.fromEntries(new URLSearchParams(text))
}

/** What keeps the framework from reading a body to its end, as an answer tells it; other errors are passed on. */
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

/** Reads away what is left of the body: an answer before its end leaves it in the connection otherwise. */
export function dropUnreadBody(request: IncomingMessage): void {
  if (!hasUnreadBody(request)) return
  let droppedBytes = 0
  request.on('data', (chunk: Buffer) => {
    droppedBytes += chunk.length
    if (droppedBytes > unreadLimitBytes) request.destroy()
  })
}

/**
 * Before an answer that ends the connection: closing one that is still written to resets it, and the caller may never see the
 * answer. Resolves at the body's end, or when it takes too long.
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

/** In small letters; null for what has another charset or is not a type. */
function readMediaType(header: string): string | null {
  const [type = '', charset = '', last = '', ...more] = header
    .split(';', 5)
    .map((part) => part.trim())
  const isRead = typePattern.test(type) && parameterPattern.test(charset)
  return isRead && last === '' && more.length === 0 ? type.toLowerCase() : null
}

/** Of a large body each step takes some of what nobody may have at once. */
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
    // The parser's own message quotes the body, which may hold a password.
    const [, position] = /position (\d+)/.exec(String(error)) ?? []
    const where = position === undefined ? '' : ` (at character ${position})`
    throw new FleetError('invalid', 'body', `the body is not valid JSON${where}`)
  }
}

function decode(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new FleetError('invalid', 'body', 'the body is not valid UTF-8')
  return bytes.toString('utf8')
}
