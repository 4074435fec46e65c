/**
 * What a purge asks a cache for: the URL as it was sent, its host in lower case, and which group answers for it there; and what a
 * caller may add: its method and headers (soft purges, surrogate keys).
 */
import { FleetError } from '../../errors.js'
import { wildcardBase } from '../../resources/domain-name.js'

interface PurgeUrl {
  /** As the Host header, with a port where one was given. */
  readonly host: string
  /** Path and query, as given; begins with a slash. */
  readonly path: string
}

/** Caches take request lines of 8 kB (http_req_size is larger). */
const urlLimitCharacters = 4096
const form = /^https?:\/\/([^/?#]*)([^#]*)(#?)/i
/** A name, an IPv4 or bracketed IPv6 address, maybe a port. */
const hostForm = /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/

/** Throws FleetError 'invalid'. */
export function parsePurgeUrl(text: string): PurgeUrl {
  if (text.length > urlLimitCharacters)
    throw refusal(text, `it has ${text.length} characters, at most ${urlLimitCharacters} are right`)
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

/** As groups hold it: without port and last dot. */
export function hostName({ host }: Pick<PurgeUrl, 'host'>): string {
  return host.replace(/:[0-9]+$/, '').replace(/\.$/, '')
}

export interface HeldName {
  readonly fqdn: string
  readonly groupId: number
}

/** Of the names on one agent, as the routing VCL chooses: exact before wildcards, the longest wildcard first. */
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

/** The names by which a group may hold this host: itself, and a wildcard for each of its ends. */
export function listHoldingNames(name: string): readonly string[] {
  const labels = name.split('.')
  return [name, ...labels.slice(1).map((_, at) => `*.${labels.slice(at + 1).join('.')}`)]
}

function refusal(text: string, reason: string): FleetError {
  return invalid(`urls: ${shown(text, 80)}: ${reason}`)
}

const methodForm = /^[A-Z][A-Z0-9_-]{0,31}$/
const headerNameForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,126}$/
/** Caches take 64 lines (http_max_hdr), some of them are ours. */
const headersLimit = 32
const valueLimitCharacters = 4096
/** Ours, or about the message itself. */
const reserved =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|x-cachefleet-.*)$/i

/** Throws FleetError 'invalid'. */
export function parsePurgeMethod(method: string): string {
  if (methodForm.test(method) && method !== 'CONNECT') return method
  throw invalid(
    `method ${shown(method)}: capital letters, digits, dash and underscore are right, as PURGE`,
  )
}

/** Throws FleetError 'invalid'. */
export function parsePurgeHeaders(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const names = Object.keys(headers)
  if (names.length > headersLimit)
    throw invalid(`headers has ${names.length} members, at most ${headersLimit} are right`)
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
