/**
 * Parses the URL of a purge, with its host in lower case, finds the group that serves it on an agent, and checks the method and
 * headers that a caller may add (soft purges, surrogate keys).
 */
import { FleetError } from '../../errors.js'
import { wildcardBase } from '../../resources/domain-name.js'

interface PurgeUrl {
  /** As in the Host header, with the port if given. */
  readonly host: string
  /** Path and query, as given; begins with a slash. */
  readonly path: string
}

/** Caches accept request lines of 8 kB (http_req_size is larger). */
const urlLimitCharacters = 4096
const form = /^https?:\/\/([^/?#]*)([^#]*)(#?)/i
/** A name, an IPv4 or bracketed IPv6 address, with an optional port. */
const hostForm = /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/

/** Throws FleetError 'invalid'. */
export function parsePurgeUrl(text: string): PurgeUrl {
  if (text.length > urlLimitCharacters)
    throw refusal(
      text,
      `it has ${text.length} characters, at most ${urlLimitCharacters} are allowed`,
    )
  if (!/^[!-~]*$/.test(text))
    throw refusal(
      text,
      'a URL holds no blanks, controls or letters outside of ASCII; write %XX for them',
    )
  const [, authority, path = '', fragment] = form.exec(text) ?? []
  if (authority === undefined)
    throw refusal(text, 'it is not absolute; https://www.example.com/path is')
  if (fragment === '#') throw refusal(text, 'what follows # is never sent to a cache; leave it out')
  const host = authority.toLowerCase()
  if (!hostForm.test(host))
    throw refusal(text, 'it has no host name, or one with other signs in it')
  return { host, path: path.startsWith('/') ? path : `/${path}` }
}

/** In the form of group domains: without port and trailing dot. */
export function hostName({ host }: Pick<PurgeUrl, 'host'>): string {
  return host.replace(/:[0-9]+$/, '').replace(/\.$/, '')
}

export interface HeldName {
  readonly fqdn: string
  readonly groupId: number
}

/** Chooses among the names on one agent like the routing VCL: exact before wildcards, the longest wildcard first. */
export function findHolder(name: string, held: readonly HeldName[]): number | null {
  let best: HeldName | null = null
  for (const one of held) {
    const base = wildcardBase(one.fqdn)
    if (base === null) {
      if (one.fqdn === name) return one.groupId
    } else if (name.endsWith(`.${base}`) && (best === null || one.fqdn.length > best.fqdn.length))
      best = one
  }
  return best?.groupId ?? null
}

/** Returns the names that match this host: itself, and a wildcard for each of its suffixes. */
export function listHoldingNames(name: string): readonly string[] {
  const labels = name.split('.')
  return [name, ...labels.slice(1).map((_, at) => `*.${labels.slice(at + 1).join('.')}`)]
}

function refusal(text: string, reason: string): FleetError {
  return invalid(`urls: ${shown(text, 80)}: ${reason}`)
}

const methodForm = /^[A-Z][A-Z0-9_-]{0,31}$/
const headerNameForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,126}$/
/** Caches accept 64 header lines (http_max_hdr), including ours. */
const headersLimit = 32
const valueLimitCharacters = 4096
/** Headers set by us, or about the message itself. */
const reserved =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|x-cachefleet-.*)$/i

/** Throws FleetError 'invalid'. */
export function parsePurgeMethod(method: string): string {
  if (methodForm.test(method) && method !== 'CONNECT') return method
  throw invalid(
    `method ${shown(method)}: it must be of capital letters, digits, dashes and underscores, like PURGE`,
  )
}

/** Throws FleetError 'invalid'. */
export function parsePurgeHeaders(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const names = Object.keys(headers)
  if (names.length > headersLimit)
    throw invalid(`headers has ${names.length} members, at most ${headersLimit} are allowed`)
  for (const [name, value] of Object.entries(headers)) {
    if (!headerNameForm.test(name)) throw invalid(`headers: ${shown(name)} is not a header name`)
    if (reserved.test(name)) throw invalid(`headers: ${name} is set by cachefleet itself`)
    if (value.length > valueLimitCharacters || !/^[ -~]*$/.test(value))
      throw invalid(
        `headers: the value of ${name} is at most ${valueLimitCharacters} printable ASCII characters`,
      )
  }
  return headers
}

function shown(text: string, most = 40): string {
  return JSON.stringify(text.length > most ? `${text.slice(0, most)}…` : text)
}

function invalid(message: string): FleetError {
  return new FleetError('invalid', 'invalidation', message)
}
