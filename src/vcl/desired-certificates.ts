/**
 * The certificates that a cache must serve (docs/behaviour.md, Certificates): names and digests only. No desired state contains the chain
 * and its private key; the agent fetches them by digest.
 */
import { Type } from 'typebox'
import { flag, list, matching, orAbsent, orNull, sha256, text } from '../resources/json-fields.js'
import type { Fitting } from '../resources/json-fields.js'

/** Per agent; an organization has 500. */
const maxCertificates = 10_000

/** Also part of a file name on the agent's host. */
const certificateNameForm = /^cf-([1-9][0-9]{0,15})-[0-9a-f]{8}$/
const name = matching(certificateNameForm, 'the name of a certificate on a cache')

const desiredCertificate = Type.Object({
  name,
  /** Digest of the file with chain and key. */
  sha: sha256,
  /** The certificate is loaded but not committed yet: phase one of a deploy. */
  staged: orAbsent(flag),
})
export type DesiredCertificate = Fitting<typeof desiredCertificate>

export const desiredCertificates = list(desiredCertificate, maxCertificates)

/** As reported by an agent. `committed`: used for handshakes. */
const reportedCertificate = Type.Object({
  name,
  state: Type.Enum(['staged', 'committed', 'failed']),
  /** For `failed`: the reason, if possible in the cache's words. */
  error: orNull(text),
})
export type ReportedCertificate = Fitting<typeof reportedCertificate>

export const reportedCertificates = list(reportedCertificate, maxCertificates)

/** The id of a certificate on the cache. */
export function certificateName(id: number, sha: string): string {
  return `cf-${id}-${sha.slice(0, 8)}`
}

/** The id of the coordinator's certificate to which this version belongs. */
export function certificateIdOf(name: string): string {
  return certificateNameForm.exec(name)?.[1] ?? ''
}
