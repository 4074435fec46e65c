/**
 * The coordinators' own CA, and the server certificates that it signs: X.509 version 3 (RFC 5280), ECDSA on P-256. Pure except
 * for the random keys and serial numbers.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
  type KeyObject,
} from 'node:crypto'
import { isIP } from 'node:net'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_serverAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509'
import { canonicalAddress } from './canonical-address.js'

/** Both are PEM. */
export interface Issued {
  readonly certificate: string
  readonly key: string
}

const dayMs = 24 * 3600 * 1000
const caLifeMs = 3653 * dayMs
const serverLifeMs = 90 * dayMs
/** So that a host whose clock is slow also accepts a new certificate. */
const backdatedMs = dayMs
/** ecdsa-with-SHA256 (RFC 5758), without parameters. */
const signatureAlgorithm = new AlgorithmIdentifier({ algorithm: '1.2.840.10045.4.3.2' })
const commonName = '2.5.4.3'

export function issueCa(now: number): Issued {
  const { privateKey, publicKey } = makeKeys()
  const id = keyId(publicKey)
  // Each CA has its own name, so that a client that trusts two of them finds the right one.
  const name = nameOf(`cachefleet CA ${Buffer.from(id).toString('hex').slice(0, 8)}`)
  const certificate = signCertificate(privateKey, {
    issuer: name,
    subject: name,
    publicKey,
    from: now - backdatedMs,
    to: now + caLifeMs,
    extensions: [
      extend(
        id_ce_basicConstraints,
        new BasicConstraints({ cA: true, pathLenConstraint: 0 }),
        true,
      ),
      extend(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign), true),
    ],
  })
  return { certificate, key: printKey(privateKey) }
}

/** `names`: host names and addresses, at least one. The certificate expires with the CA at the latest. */
export function issueServerCertificate(ca: Issued, names: readonly string[], now: number): Issued {
  const { privateKey, publicKey } = makeKeys()
  const issuer = new X509Certificate(ca.certificate)
  const caKey = createPrivateKey(ca.key)
  const certificate = signCertificate(caKey, {
    issuer: AsnConvert.parse(issuer.raw, Certificate).tbsCertificate.subject,
    // The names are only in the extension: RFC 6125 ignores a common name beside it.
    subject: nameOf('cachefleet coordinator'),
    publicKey,
    from: now - backdatedMs,
    to: Math.min(now + serverLifeMs, Date.parse(issuer.validTo)),
    extensions: [
      extend(id_ce_basicConstraints, new BasicConstraints({ cA: false }), true),
      extend(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature), true),
      extend(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_serverAuth])),
      extend(id_ce_subjectAltName, new SubjectAlternativeName(names.map(toGeneralName))),
      extend(
        id_ce_authorityKeyIdentifier,
        new AuthorityKeyIdentifier({
          keyIdentifier: new KeyIdentifier(keyId(createPublicKey(caKey))),
        }),
      ),
    ],
  })
  return { certificate, key: printKey(privateKey) }
}

interface Content {
  readonly issuer: Name
  readonly subject: Name
  readonly publicKey: KeyObject
  /** Milliseconds since 1970; certificates store seconds. */
  readonly from: number
  readonly to: number
  readonly extensions: readonly Extension[]
}

function signCertificate(key: KeyObject, content: Content): string {
  const { issuer, subject, publicKey, from, to, extensions } = content
  const ofSubject = extend(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(keyId(publicKey)))
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    signature: signatureAlgorithm,
    issuer,
    subject,
    serialNumber: drawSerial(),
    validity: new Validity({ notBefore: new Date(from), notAfter: new Date(to) }),
    subjectPublicKeyInfo: AsnConvert.parse(spkiOf(publicKey), SubjectPublicKeyInfo),
    extensions: new Extensions([...extensions, ofSubject]),
  })
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), key)
  const whole = AsnConvert.serialize(
    new Certificate({ tbsCertificate, signatureAlgorithm, signatureValue: toBytes(signature) }),
  )
  return new X509Certificate(Buffer.from(whole)).toString()
}

function makeKeys(): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

function printKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function spkiOf(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}

/** RFC 7093, method 1: the leftmost 160 bits of the SHA-256 of the public key's bits. */
function keyId(key: KeyObject): ArrayBuffer {
  const { subjectPublicKey } = AsnConvert.parse(spkiOf(key), SubjectPublicKeyInfo)
  const digest = createHash('sha256').update(Buffer.from(subjectPublicKey)).digest()
  return toBytes(digest.subarray(0, 20))
}

/** Positive, and always of the same length. */
function drawSerial(): ArrayBuffer {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return toBytes(bytes)
}

function nameOf(text: string): Name {
  const value = new AttributeValue({ utf8String: text })
  const one = new AttributeTypeAndValue({ type: commonName, value })
  return new Name([new RelativeDistinguishedName([one])])
}

function toGeneralName(name: string): GeneralName {
  if (isIP(name) === 0) return new GeneralName({ dNSName: name })
  // The library does not parse IPv6 addresses with a dotted IPv4 part, such as ::ffff:192.0.2.7.
  return new GeneralName({ iPAddress: canonicalAddress(name) })
}

function extend(extnID: string, value: object, critical = false): Extension {
  return new Extension({
    extnID,
    critical,
    extnValue: new OctetString(AsnConvert.serialize(value)),
  })
}

function toBytes(bytes: Buffer): ArrayBuffer {
  return Uint8Array.from(bytes).buffer
}
