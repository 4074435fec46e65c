/** Opens chain and key for an agent that should have them, in the form its cache reads. They are unsealed only to be sent. */
import { readDesiredRows } from '../fleet/agent-rows.js'
import type { DesiredEngine } from '../../vcl/desired-engine.js'
import { certificateIdOf } from '../../vcl/desired-certificates.js'
import { sealedPurposes } from '../identity/sealed-texts.js'
import { findVersion } from './certificate-queries.js'
import type { CertificateTools } from './certificates.js'
import { fileText } from './read-certificate.js'

/**
 * Returns undefined when this agent's desired state names no certificate with this digest. Rejects with FleetError 'unavailable'
 * when another secret key sealed it.
 */
export async function openCertificateFor(
  { service: { store }, sealing }: CertificateTools,
  agentId: number,
  sha: string,
): Promise<string | undefined> {
  const [row] = await readDesiredRows(store.queries, [agentId])
  if (!row) return undefined
  const { certificates = [] } = JSON.parse(row.desired) as DesiredEngine // written by recomposeDesired
  const wanted = certificates.find((one) => one.sha === sha)
  if (!wanted) return undefined
  const version = await findVersion(store.queries, Number(certificateIdOf(wanted.name)), sha)
  if (!version || version.sealedKey === null) return undefined
  const key = await sealing.open(version.sealedKey, sealedPurposes.certificateKey)
  return fileText(version.chain, key)
}
