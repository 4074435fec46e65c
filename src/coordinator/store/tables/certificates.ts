/** Certificates as uploaded, their versions that are or were on agents, and the progress of each agent. */
import { id, index, integer, nameIndexes, owner, table, text, times } from './table.js'

const ofCertificate = () => integer().references('certificates', 'cascade')

export const certificateTables = {
  certificates: table(
    {
      id: id(),
      organizationId: owner(),
      name: text(),
      /** Of the newest version, like the columns after it. */
      sha: text(),
      chain: text(),
      /** JSON array. */
      domains: text(),
      notAfter: integer(),
      fingerprint: text(),
      /** JSON of CertificateRelease: the desired release on agents; null: never deployed. */
      released: text().orNull(),
      /** JSON of CertificateRelease: the release that served before, for a rollback. */
      previous: text().orNull(),
      /** JSON of CertificateCandidate: loaded by a deploy in phase one; null: no deploy in progress. */
      candidate: text().orNull(),
      deployError: text().orNull(),
      ...times,
    },
    { indexes: nameIndexes },
  ),

  /** Keyed by the digest of the file that agents get; unreferenced versions are deleted. */
  certificateVersions: table(
    {
      certificateId: ofCertificate(),
      organizationId: owner(),
      sha: text(),
      chain: text(),
      /** Null: lost in a reset of the secret key. */
      sealedKey: text().orNull(),
      domains: text(),
      notAfter: integer(),
      fingerprint: text(),
    },
    { primaryKey: ['certificateId', 'sha'], indexes: { sha: index('sha') } },
  ),

  certificateDeployments: table(
    {
      certificateId: ofCertificate(),
      deploymentId: integer().references('deployments'),
      position: integer(),
    },
    {
      primaryKey: ['certificateId', 'deploymentId'],
      indexes: { deployment: index('deploymentId') },
    },
  ),

  /** A certificate on an agent that its deployments select. */
  certificateAgents: table(
    {
      certificateId: ofCertificate(),
      agentId: integer().references('agents', 'cascade'),
      organizationId: owner(),
      /** The version that it should serve; null: none yet, or the agent is passed over. */
      sha: text().orNull(),
      /** 'wanted', 'applied', 'failed' or 'passed'. */
      state: text(),
      /** Of 'passed': 'no-tls' or 'conflict'. */
      reason: text().orNull(),
      /** The version that a deploy in phase one loads there. */
      candidateSha: text().orNull(),
      /** 'pending', 'loaded' or 'failed' while there is a candidate. */
      candidateState: text().orNull(),
      error: text().orNull(),
      deployedAt: integer().orNull(),
    },
    { primaryKey: ['certificateId', 'agentId'], indexes: { agent: index('agentId') } },
  ),
}
