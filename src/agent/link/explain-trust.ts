/** Explains why a coordinator's certificate is not trusted, and what to do. Pure. */
import type { CoordinatorAddress } from './coordinator-http.js'

const unknownMaker: ReadonlySet<string> = new Set([
  ...['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_SIGNATURE_FAILURE'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
  ...['UNABLE_TO_GET_ISSUER_CERT', 'INVALID_CA'],
])

/** `isPinned`: the agent keeps a CA. Returns undefined if the error is not about trust. */
export function explainTrust(
  { url, caFile, pin }: Pick<CoordinatorAddress, 'url' | 'caFile' | 'pin'>,
  error: unknown,
  { isPinned, now }: { readonly isPinned: boolean; readonly now: Date },
): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const { host, hostname } = new URL(url)
  const whose = `the certificate of the coordinator at ${host}`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `${whose} is for ${readNames(error)} and not for ${hostname}: use one of these in --coordinator-url, or start the coordinator with --tls-names ${hostname}`
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    const what = code === 'CERT_HAS_EXPIRED' ? 'has expired' : 'is not valid yet'
    return `${whose} ${what} by the clock of this host, which says ${now.toISOString()}: set the clock, or renew the certificate`
  }
  if (!unknownMaker.has(code)) return undefined
  if (caFile !== null) return `${whose} is not issued by the CA in ${caFile} (--coordinator-ca)`
  if (isPinned)
    return `${whose} is not issued by the CA that this agent keeps in ${pin?.file ?? ''}: for another coordinator, or a proxy that terminates TLS, use a new join token or --coordinator-ca; without that file the system's authorities are trusted`
  return `${whose} is not issued by a CA that this host trusts: a new join token names the coordinator's CA (it begins with cf1.), or name a file with that CA in --coordinator-ca`
}

function readNames(error: unknown): string {
  const certificate = error instanceof Error && 'cert' in error ? error.cert : undefined
  const names =
    typeof certificate === 'object' && certificate !== null && 'subjectaltname' in certificate
      ? String(certificate.subjectaltname)
      : ''
  const plain = names.replaceAll(/(?:DNS|IP Address):/g, '').replaceAll(/[^\x20-\x7e]/g, '?')
  return plain.slice(0, 300) || 'nobody'
}
