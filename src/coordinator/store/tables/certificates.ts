/** Certificates: what users gave, the versions of it that are or were on agents, and how far each agent is. */
import { id, index, integer, nameIndexes, owner, table, text, times } from './table.js'

const ofCertificate = () => integer().references('certificates', 'cascade')

export const certificateTables = {
  certificates: table(
    {
      id: id(),
      organizationId: owner(),
      name: text(),
      /** Of the newest version, as the columns behind it. */
      sha: text(),
      chain: text(),
      /** JSON array. */
      domains: text(),
      notAfter: integer(),
      fingerprint: text(),
      /** JSON of CertificateRelease: what agents are to have; null: never deployed. */
      released: text().orNull(),
      /** JSON of CertificateRelease: what served before, for a rollback. */
      previous: text().orNull(),
      /** JSON of CertificateCandidate: what a deploy in phase one loads; null: none is in progress. */
      candidate: text().orNull(),
      deployError: text().orNull(),
      ...times,
    },
    { indexes: nameIndexes },
  ),

  /** By the digest of the file that agents get; those that nothing names are deleted. */
  certificateVersions: table(
    {
      certificateId: ofCertificate(),
      organizationId: owner(),
      sha: text(),
      chain: text(),
      /** Null: a reset of the secret key forgot it. */
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

  /** A certificate on an agent that fits. */
  certificateAgents: table(
    {
      certificateId: ofCertificate(),
      agentId: integer().references('agents', 'cascade'),
      organizationId: owner(),
      /** What it is to serve; null: nothing yet, or it is passed over. */
      sha: text().orNull(),
      /** 'wanted', 'applied', 'failed' or 'passed'. */
      state: text(),
      /** Of 'passed': 'no-tls' or 'conflict'. */
      reason: text().orNull(),
      /** What a deploy in phase one loads there. */
      candidateSha: text().orNull(),
      /** 'pending', 'loaded' or 'failed' while there is a candidate. */
      candidateState: text().orNull(),
      error: text().orNull(),
      deployedAt: integer().orNull(),
    },
    { primaryKey: ['certificateId', 'agentId'], indexes: { agent: index('agentId') } },
  ),
}
