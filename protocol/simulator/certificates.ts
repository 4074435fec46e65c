/** Certificates of a simulated engine: in its manager, in its child, and in files. */
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'

export interface HeldCertificate {
  readonly id: string
  readonly path: string
  state: 'staged' | 'committed' | 'discarded'
}

export interface CertificateInChild {
  readonly id: string
  readonly subject: string
  /** True if committed: used for handshakes. */
  isServing: boolean
  isDiscarded: boolean
  /** Left over from a load that was rolled back: still listed, but unknown to manager and child. */
  isGhost?: boolean
}

interface Holder {
  certificates: HeldCertificate[]
  readonly setup: { readonly readTlsFile?: ((path: string) => string | null) | undefined }
}

/** Reads all committed files again, for a new child or a reload. */
export function pushCertificates({
  certificates,
  setup,
}: Holder): { readonly certificates: CertificateInChild[] } | { readonly refusal: string } {
  const pushed: CertificateInChild[] = []
  for (const { id, path, state } of certificates) {
    if (state !== 'committed') continue
    const text = setup.readTlsFile?.(path) ?? null
    if (text === null)
      return {
        refusal: `Unable to read certificate file '${path}' (No such file or directory)\n`,
      }
    const read = readCertificate(text)
    if ('refusal' in read) return { refusal: `${path}: ${read.refusal}\n` }
    pushed.push({ id, subject: read.subject, isServing: true, isDiscarded: false })
  }
  return { certificates: pushed }
}

type ReadResult = { readonly subject: string } | { readonly refusal: string }

/** Results for the latest texts, by digest: a thousand simulated caches of one process read the same files. */
const known = new Map<string, ReadResult>()
const maxKnown = 16

export function readCertificate(text: string): ReadResult {
  const digest = createHash('sha256').update(text).digest('hex')
  const earlier = known.get(digest)
  if (earlier) return earlier
  const read = parseCertificate(text)
  known.set(digest, read)
  for (const oldest of known.keys()) {
    if (known.size <= maxKnown) break
    known.delete(oldest)
  }
  return read
}

/** Parses with OpenSSL, as the child does. */
function parseCertificate(text: string): ReadResult {
  let certificate: X509Certificate
  try {
    certificate = new X509Certificate(text)
  } catch {
    return { refusal: 'Error loading certificate: error:0480006C:PEM routines::no start line' }
  }
  try {
    if (!certificate.checkPrivateKey(createPrivateKey(text)))
      return {
        refusal:
          'SSL_CTX_use_PrivateKey: error:05800074:x509 certificate routines::key values mismatch',
      }
  } catch {
    return { refusal: 'Error loading private key: error:0480006C:PEM routines::no start line' }
  }
  return { subject: certificate.subject.replaceAll('\n', '/') }
}
