/** Reads credentials of a caller: the schemes of the Authorization header, and cookies. */
import type { IncomingHttpHeaders } from 'node:http'

interface BasicCredentials {
  readonly user: string
  readonly password: string
}

/** RFC 7617, in UTF-8. Returns undefined if they are missing or malformed. */
export function readBasic(headers: IncomingHttpHeaders): BasicCredentials | undefined {
  const encoded = readToken(headers, 'basic')
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) }
}

/** Returns the value after the scheme (`bearer`, `refresh`; case-insensitive) in the Authorization header. */
export function readToken(headers: IncomingHttpHeaders, scheme: string): string | undefined {
  const { authorization = '' } = headers
  const blank = authorization.indexOf(' ')
  if (blank < 0 || authorization.slice(0, blank).toLowerCase() !== scheme) return undefined
  const token = authorization.slice(blank + 1).trim()
  return token === '' ? undefined : token
}

export function readCookie(headers: IncomingHttpHeaders, name: string): string | undefined {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const equals = pair.indexOf('=')
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim()
  }
  return undefined
}
