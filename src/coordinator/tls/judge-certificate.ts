/** Decides which names a coordinator's own certificate has, and when it must be renewed. Pure. */
import { isIP } from 'node:net'
import type { X509Certificate } from 'node:crypto'
import { canonicalAddress } from './canonical-address.js'

export interface NameSources {
  /** The host of `--listen`. */
  readonly listenHost: string
  readonly hostName: string
  /** The addresses of the host's interfaces. */
  readonly addresses: readonly string[]
  readonly publicUrl: string | null
  /** `--tls-names`. */
  readonly further: readonly string[]
}

/** Keeps the handshake small on a host with many containers, which has many addresses. */
const maxNames = 100
const everyAddress: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

/** Returns the names that clients may connect to, without duplicates. Configured names are never left out. */
export function listServerNames(sources: NameSources): readonly string[] {
  const { listenHost, hostName, publicUrl, further } = sources
  const isOnAll = everyAddress.has(listenHost)
  const publicName = publicUrl === null ? [] : [new URL(publicUrl).hostname.replace(/^\[|\]$/g, '')]
  const found = [
    ...[...publicName, ...further, ...(isOnAll ? [] : [listenHost]), hostName],
    ...(isOnAll ? ['localhost', ...sources.addresses.filter(isReachable)] : []),
  ]
  const names = found.map(toName).filter((name) => name !== null)
  return [...new Set(names)].slice(0, Math.max(maxNames, further.length + publicName.length))
}

/** A connection to a link-local address needs a zone, which a certificate cannot name. */
function isReachable(address: string): boolean {
  return !/^fe[89ab]/i.test(address)
}

function toName(text: string): string | null {
  if (isIP(text) !== 0) return canonicalAddress(text)
  return /^(?:[\w*][\w-]*\.)*[\w-]+\.?$/.test(text) ? text.toLowerCase().replace(/\.$/, '') : null
}

const dayMs = 24 * 3600 * 1000
const renewBeforeMs = 30 * dayMs

export interface Judged {
  readonly ca: X509Certificate
  readonly names: readonly string[]
  readonly now: number
}

/** Null: no renewal is needed. `certificate` is null if there is none that can be read. */
export function findRenewalReason(
  certificate: X509Certificate | null,
  { ca, names, now }: Judged,
): string | null {
  if (certificate === null) return 'there is none'
  if (!certificate.checkIssued(ca) || !certificate.verify(ca.publicKey))
    return 'another CA issued it'
  const end = Date.parse(certificate.validTo)
  // No certificate outlives its CA, so renewing one that ends with its CA would not extend it.
  if (end - now < renewBeforeMs && end < Date.parse(ca.validTo)) return 'it expires soon'
  if (Date.parse(certificate.validFrom) > now) return 'it is not valid yet'
  const missing = names.find((name) => !isNamed(certificate, name))
  return missing === undefined ? null : `it does not name ${missing}`
}

function isNamed(certificate: X509Certificate, name: string): boolean {
  if (isIP(name) !== 0) return certificate.checkIP(name) !== undefined
  // A wildcard name is covered if the certificate covers one example of it.
  const one = name.replace(/^\*/, 'any')
  return certificate.checkHost(one, { subject: 'never' }) !== undefined
}
