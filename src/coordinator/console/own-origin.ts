/** A write with the cookie and a foreign Origin is 403 (docs/behaviour.md, Console). */
import { FleetError } from '../../errors.js'
import type { Caller } from '../http/api.js'

/** Browsers send the cookie for pages of the same site; writes are accepted only from pages of this service itself. */
export function requireOwnOrigin(
  { headers, method, secure }: Pick<Caller, 'headers' | 'method' | 'secure'>,
  baseUrl: string,
): void {
  const { origin, host = '' } = headers
  if (origin === undefined || method === 'GET' || method === 'HEAD') return
  const own = [`${secure ? 'https' : 'http'}://${host}`, baseUrl]
  if (own.includes(origin)) return
  throw new FleetError(
    'forbidden',
    'auth',
    `a page of ${origin.slice(0, 100)} may not write with the session's cookie`,
  )
}
