/** Reads a call's body: what is refused before any schema sees it (choices: 2, Bodies). */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { setImmediate as servedOthers } from 'node:timers/promises'
import { findJsonExcess, type JsonLimits } from '../../json-excess.js'
import { FleetError } from '../../errors.js'
import type { BodyType } from './route.js'

/** choices: 2, 413 over 10 MiB. */
export const bodyLimitBytes = 10 * 1024 * 1024
/** Chosen by us: of a caller that is nobody yet; a login and a one-time code are some hundred bytes. */
export const publicBodyLimitBytes = 64 * 1024
/** Chosen by us, the members: the plan of a folder of 1,000 groups has some 30,000. */
const jsonLimits: JsonLimits = { depth: 64, members: 100_000, keys: 10_000 }
/** Chosen by us: what is left of a refused body is read away up to this, so that the caller gets to read the answer. */
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

/** Undefined when the body is empty. Throws FleetError with key `body`: 415, 413 or 400. */
export async function readBody(
  request: IncomingMessage,
  { bodyTypes = ['json'], textKey = 'text', limitBytes = bodyLimitBytes }: BodyRules = {},
): Promise<unknown> {
  if (!announcesBody(request)) return undefined
  const type = chooseType(request, bodyTypes)
  const bytes = await readBytes(request, limitBytes)
  if (bytes.length === 0) return undefined
  if (type === 'json') return parseJson(bytes)
  const text = decode(bytes)
  return type === 'text' ? { [textKey]: text } : Object.fromEntries(new URLSearchParams(text))
}

export interface BodyRules {
  readonly bodyTypes?: readonly BodyType[]
  readonly textKey?: string
  readonly limitBytes?: number
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

function chooseType(request: IncomingMessage, allowed: readonly BodyType[]): BodyType {
  const { 'content-encoding': encoding, 'content-type': type } = request.headers
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new FleetError(
      'unsupported-type',
      'body',
      'the body is compressed (Content-Encoding); send it as it is',
    )
  const given = readMediaType(type ?? '')
  const chosen = allowed.find((one) => mediaTypes[one] === given)
  if (chosen !== undefined) return chosen
  const right = allowed.map((one) => `"Content-Type: ${mediaTypes[one]}"`).join(' or ')
  throw new FleetError('unsupported-type', 'body', `the body needs ${right}, in UTF-8`)
}

/** In small letters; null for what has another charset or is no type. */
function readMediaType(header: string): string | null {
  const [type = '', charset = '', last = '', ...more] = header
    .split(';', 5)
    .map((part) => part.trim())
  const isRead = typePattern.test(type) && parameterPattern.test(charset)
  return isRead && last === '' && more.length === 0 ? type.toLowerCase() : null
}

function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes)
    return Promise.reject(bodyTooLarge(limitBytes))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let receivedBytes = 0
    const stop = (): void => {
      request.off('data', take).off('end', end).off('error', fail).off('close', fail)
    }
    const take = (chunk: Buffer): void => {
      receivedBytes += chunk.length
      if (receivedBytes > limitBytes) {
        stop()
        reject(bodyTooLarge(limitBytes))
      } else chunks.push(chunk)
    }
    const end = (): void => {
      stop()
      resolve(Buffer.concat(chunks, receivedBytes))
    }
    const fail = (): void => {
      stop()
      reject(new FleetError('invalid', 'body', 'the connection closed in the middle of the body'))
    }
    request.on('data', take).on('end', end).on('error', fail).on('close', fail)
  })
}

function bodyTooLarge(limitBytes: number): FleetError {
  return new FleetError('too-large', 'body', `the body is over ${limitBytes} bytes`)
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
