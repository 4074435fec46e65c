/**
 * Where a login through an identity provider may return to: a loopback address, or a page of this service
 * (docs/behaviour.md, Identity providers).
 */
import { FleetError } from '../../errors.js'
import { findAddressProblem, plainHost } from './provider-address.js'

/** Bounded because it is kept in a cookie. */
const returnLimit = 1000

/** `baseUrl`: of this service; paths that begin with `/` are relative to it. Throws FleetError 'invalid'. */
export function parseReturnUrl(text: string, baseUrl: string): string {
  const isRelative = text.startsWith('/') && URL.canParse(text, baseUrl)
  if (text.length > returnLimit || !(isRelative || URL.canParse(text))) throw refused()
  const url = new URL(text, baseUrl)
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:'
  const isOwn = url.origin === new URL(baseUrl).origin || isLoopback(url.hostname)
  if (!isWeb || !isOwn || url.username !== '' || url.password !== '') throw refused()
  return url.href
}

function isLoopback(hostname: string): boolean {
  const host = plainHost(hostname)
  return host === 'localhost' || findAddressProblem(host, 'http:') === null
}

function refused(): FleetError {
  return new FleetError(
    'invalid',
    'auth',
    'return: it must be http://127.0.0.1:<port>/… or an address of this service',
  )
}
