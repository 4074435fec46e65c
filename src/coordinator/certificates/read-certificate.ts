/**
 * Parses and validates a user's certificate before any cache gets it (docs/behaviour.md, Certificates): a cache refuses a wrong key only
 * at load, and accepts an expired certificate. Pure.
 */
import { createHash, createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { maxChain } from '../../resources/certificate.js'
import { splitPem } from '../../resources/pem.js'
import { FleetError } from '../../errors.js'

export interface ReadCertificate {
  /** Normalized PEM: the same content gives the same text. */
  readonly chain: string
  readonly key: string
  /** SHA-256 of `fileText`. */
  readonly sha: string
  readonly domains: readonly string[]
  readonly notAfter: number
  /** SHA-256 of the certificate. */
  readonly fingerprint: string
}

const minRsaBits = 2048

/** Throws 'invalid' with the field, chain or key, and the reason. */
export function readCertificate(
  given: { readonly chain: string; readonly key: string },
  now: number,
): ReadCertificate {
  const certificates = readChain(given.chain)
  const [leaf] = certificates
  if (leaf === undefined) throw refused('chain', 'it has no certificate; it must be in PEM')
  for (const [at, one] of certificates.entries()) requireUsable(one, at, now)
  requireOrder(certificates)
  const key = readKey(given.key)
  if (!leaf.checkPrivateKey(key))
    throw refused('key', 'it is not the key of the first certificate of chain')
  const chain = certificates.map((one) => one.toString()).join('')
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString()
  return {
    chain,
    key: pem,
    sha: createHash('sha256').update(fileText(chain, pem)).digest('hex'),
    domains: readDomains(leaf),
    notAfter: Date.parse(leaf.validTo),
    fingerprint: leaf.fingerprint256.replaceAll(':', '').toLowerCase(),
  }
}

/** The contents of the file that an agent gives to its cache. */
export function fileText(chain: string, key: string): string {
  return `${chain}${key}`
}

function readChain(text: string): readonly X509Certificate[] {
  const bytes = Buffer.byteLength(text)
  if (bytes > maxChain.bytes)
    throw refused('chain', `it has ${bytes} bytes, at most ${maxChain.bytes} are allowed`)
  const blocks = splitPem(text)
  const other = blocks.find(({ label }) => label !== 'CERTIFICATE')
  if (other)
    throw refused('chain', `it holds a ${other.label.slice(0, 40)}; only certificates are allowed`)
  if (blocks.length > maxChain.certificates)
    throw refused(
      'chain',
      `it has ${blocks.length} certificates, at most ${maxChain.certificates} are allowed`,
    )
  return blocks.map(({ text: pem }, at) => {
    try {
      return new X509Certificate(pem)
    } catch {
      throw refused('chain', `certificate ${at + 1} cannot be read`)
    }
  })
}

function requireUsable(one: X509Certificate, at: number, now: number): void {
  const which = `certificate ${at + 1} (${describeSubject(one)})`
  if (Date.parse(one.validTo) <= now)
    throw refused('chain', `${which} expired at ${toIso(one.validTo)}`)
  if (Date.parse(one.validFrom) > now)
    throw refused('chain', `${which} is not valid before ${toIso(one.validFrom)}`)
  const { asymmetricKeyType, asymmetricKeyDetails } = one.publicKey
  const bits = asymmetricKeyDetails?.modulusLength ?? 0
  if ((asymmetricKeyType === 'rsa' || asymmetricKeyType === 'rsa-pss') && bits < minRsaBits)
    throw refused(
      'chain',
      `${which} has an RSA key of ${bits} bits, at least ${minRsaBits} are required`,
    )
}

/** Clients verify a chain from the certificate upwards: the next one must have issued it. */
function requireOrder(certificates: readonly X509Certificate[]): void {
  for (const [at, one] of certificates.entries()) {
    const issuer = certificates[at + 1]
    if (issuer === undefined) return
    if (!one.checkIssued(issuer) || !one.verify(issuer.publicKey))
      throw refused(
        'chain',
        `certificate ${at + 1} (${describeSubject(one)}) was not issued by certificate ${at + 2} (${describeSubject(issuer)}); ` +
          'the certificate comes first, and behind each the one that issued it',
      )
  }
}

function readKey(text: string): KeyObject {
  if (Buffer.byteLength(text) > maxChain.bytes)
    throw refused('key', `it is over ${maxChain.bytes} bytes`)
  if (/-----BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED/.test(text))
    throw refused('key', 'it is encrypted; give it without a passphrase, it is sealed here')
  try {
    return createPrivateKey(text)
  } catch {
    // The library's message may quote the key.
    throw refused('key', 'it is not a private key in PEM')
  }
}

/** Returns the DNS names of the certificate in lower case; clients ignore its subject. */
function readDomains(leaf: X509Certificate): readonly string[] {
  const names = (leaf.subjectAltName ?? '')
    .split(', ')
    .flatMap((entry) => /^DNS:([A-Za-z0-9*._-]+)$/.exec(entry)?.[1] ?? [])
    .map((name) => name.toLowerCase())
  if (names.length === 0)
    throw refused(
      'chain',
      'its certificate has no DNS name (subjectAltName); one at least is needed',
    )
  return [...new Set(names)]
}

/** Returns the names that no domain covers, neither the same name nor a wildcard above it. Pure. */
export function findUncovered(
  names: readonly string[],
  fqdns: readonly string[],
): readonly string[] {
  const known = new Set(fqdns)
  return names.filter((name) => {
    if (known.has(name)) return false
    const labels = name.replace(/^\*\./, '').split('.')
    // A wildcard covers the names below it, at any depth.
    return !labels.some((_, at) => at > 0 && known.has(`*.${labels.slice(at).join('.')}`))
  })
}

/** Converts from OpenSSL's format: `Nov 24 06:00:00 2026 GMT`. */
function toIso(time: string): string {
  return new Date(time).toISOString()
}

function describeSubject({ subject }: X509Certificate): string {
  return (subject || 'no subject').replaceAll('\n', ', ').slice(0, 200)
}

function refused(key: 'chain' | 'key', problem: string): FleetError {
  return new FleetError('invalid', 'certificate', `${key}: ${problem}`)
}
