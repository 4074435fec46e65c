/** Chain and key as an agent's cache reads them, for the agent that is to have them; open only on their way. */
import { readDesiredRows } from '../fleet/agent-rows.js'
import type { DesiredEngine } from '../../vcl/desired-engine.js'
import { certificateIdOf } from '../../vcl/desired-certificates.js'
import { sealedPurposes } from '../identity/sealed-texts.js'
import { findVersion } from './certificate-queries.js'
import type { CertificateTools } from './certificates.js'
import { fileText } from './read-certificate.js'

/**
 * Undefined when the desired state of this agent names none of this digest. Rejects with FleetError 'unavailable' when another
 * secret key has sealed it.
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
