/**
 * The certificates that a cache must serve (docs/behaviour.md, Certificates): names and digests only. What they are of, a chain and its
 * private key, is in no desired state; the agent fetches it by its digest.
 */
import { Type } from 'typebox'
import { flag, list, matching, orAbsent, orNull, sha256, text } from '../resources/json-fields.js'
import type { Fitting } from '../resources/json-fields.js'

/** Of one agent; an organization has 500. */
const certificatesMost = 10_000

/** It is also part of a file's name on the agent's host. */
const certificateNameForm = /^cf-([1-9][0-9]{0,15})-[0-9a-f]{8}$/
const name = matching(certificateNameForm, 'the name of a certificate on a cache')

const desiredCertificate = Type.Object({
  name,
  /** Of the file: the chain and the key. */
  sha: sha256,
  /** Loaded, and not to be committed yet: phase one of a deploy. */
  staged: orAbsent(flag),
})
export type DesiredCertificate = Fitting<typeof desiredCertificate>

export const desiredCertificates = list(desiredCertificate, certificatesMost)

/** As an agent reports it. `committed`: handshakes get it. */
const reportedCertificate = Type.Object({
  name,
  state: Type.Enum(['staged', 'committed', 'failed']),
  /** Of `failed` why, in the cache's words where it said so. */
  error: orNull(text),
})
export type ReportedCertificate = Fitting<typeof reportedCertificate>

export const reportedCertificates = list(reportedCertificate, certificatesMost)

/** The id of a certificate on the cache. */
export function certificateName(id: number, sha: string): string {
  return `cf-${id}-${sha.slice(0, 8)}`
}

/** Of the coordinator's certificate that it is a version of. */
export function certificateIdOf(name: string): string {
  return certificateNameForm.exec(name)?.[1] ?? ''
}
