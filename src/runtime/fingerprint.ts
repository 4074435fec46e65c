/** The certificate fingerprint in join tokens, `cachefleet login --fingerprint` and `cachefleetd tls show` (docs/behaviour.md, TLS). */
import { createHash, X509Certificate } from 'node:crypto'

/** Base64url of the SHA-256 of its DER. Throws when the input is neither PEM nor DER of a certificate. */
export function fingerprintOf(certificate: string | Buffer): string {
  return createHash('sha256').update(new X509Certificate(certificate).raw).digest('base64url')
}
