/** Masks secrets before traffic data leaves a host, and client addresses unless the reader may see them (docs/behaviour.md, Live log). */
import { isIPv4, isIPv6 } from 'node:net'

export interface Masking {
  /** Headers masked in addition to the fixed ones, in lower case: `--mask-headers`. */
  readonly headers: readonly string[]
  /** `--mask-query`. */
  readonly masksQuery: boolean
  /** The reader lacks the permission type `logclient`. */
  readonly masksClients: boolean
}

const maskedValue = '[masked]'
const secretHeaders = ['cookie', 'set-cookie', 'authorization', 'proxy-authorization']
const secretPrefix = 'x-cachefleet-'
/** Headers in which proxies pass the client's address. */
const addressHeaders = [
  ...['x-forwarded-for', 'forwarded', 'x-real-ip', 'true-client-ip', 'x-client-ip'],
  ...['cf-connecting-ip', 'fastly-client-ip'],
]

export function isMaskedHeader(name: string, { headers, masksClients }: Masking): boolean {
  const lower = name.toLowerCase()
  if (secretHeaders.includes(lower) || lower.startsWith(secretPrefix)) return true
  return headers.includes(lower) || (masksClients && addressHeaders.includes(lower))
}

/** `--mask-query` applies to the query strings in these, too. */
const urlHeaders = ['referer', 'location', 'content-location']

export function holdsUrl(name: string): boolean {
  return urlHeaders.includes(name.toLowerCase())
}

/** `header`: `name: value`. */
export function maskHeader(header: string, masking: Masking): string {
  const colon = header.indexOf(':')
  const name = colon < 0 ? header : header.slice(0, colon)
  if (isMaskedHeader(name.trim(), masking)) return `${name}: ${maskedValue}`
  return holdsUrl(name.trim()) ? maskUrl(header, masking) : header
}

/** `/a?token=1` becomes `/a?[masked]`. */
export function maskUrl(url: string, { masksQuery }: Masking): string {
  const at = masksQuery ? url.indexOf('?') : -1
  return at < 0 ? url : `${url.slice(0, at + 1)}${maskedValue}`
}

/** Returns such as `192.0.2.0` or `2001:db8:1::`; a text that is not an address is masked completely. */
export function maskClient(address: string, { masksClients }: Masking): string {
  if (!masksClients) return address
  if (isIPv4(address)) return `${address.slice(0, address.lastIndexOf('.'))}.0`
  if (isIPv6(address) && address.includes('.'))
    return `${address.slice(0, address.lastIndexOf('.'))}.0`
  return isIPv6(address) ? cutToSite(address) : maskedValue
}

/** Keeps the first 48 bits, in their given notation. */
function cutToSite(address: string): string {
  const [before = '', after] = address.split('::')
  const front = before === '' ? [] : before.split(':')
  const back = after === undefined || after === '' ? [] : after.split(':')
  const zeros =
    after === undefined ? [] : Array<string>(Math.max(0, 8 - front.length - back.length)).fill('0')
  const site = [...front, ...zeros, ...back].slice(0, 3)
  while (site.at(-1) === '0') site.pop()
  return `${site.join(':')}::`
}
