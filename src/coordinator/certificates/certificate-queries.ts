/** Certificate rows with their references. Keys are read sealed, one at a time, and never in lists. */
import { expressionBuilder } from 'kysely'
import { named } from '../../resources/common-fields.js'
import { certificate } from '../../resources/certificate.js'
import { groupBy } from '../../group-by.js'
import { readingOf } from '../api/noun-reading.js'
import type { ListColumns, NestedColumn } from '../store/list-query.js'
import { selectOwned } from '../store/owned-rows.js'
import type { NamedReference } from '../store/owner.js'
import { listColumns, nestedColumns, rowReader, type StoredRecord } from '../store/resource-rows.js'
import type { Tables } from '../store/schema.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import type { ReadCertificate } from './read-certificate.js'

/** A version and the deployments it is released to; JSON in `certificates.released` and `previous`. */
export interface CertificateRelease {
  readonly sha: string
  readonly domains: readonly string[]
  readonly deploymentIds: readonly number[]
}

/** The release that agents are loading. */
export interface CertificateCandidate extends CertificateRelease {
  /** An agent that has not loaded it by then counts as failed. */
  readonly deadlineAt: number
}

export type CertificateRecord = StoredRecord<typeof certificate.fields> & {
  readonly organizationId: number | null
  readonly sha: string
  readonly chain: string
  readonly deployments: readonly NamedReference[]
  readonly released: CertificateRelease | null
  readonly previous: CertificateRelease | null
  readonly candidate: CertificateCandidate | null
  readonly deployError: string | null
}

const hasDeployment: NestedColumn['exists'] = (condition) =>
  expressionBuilder<Tables, 'certificates'>().exists((e) =>
    e
      .selectFrom('certificateDeployments')
      .innerJoin('deployments', 'deployments.id', 'certificateDeployments.deploymentId')
      .select('certificateDeployments.certificateId')
      .whereRef('certificateDeployments.certificateId', '=', 'certificates.id')
      .where(condition),
  )

const certificateColumns = {
  ...listColumns(certificate.fields, 'certificates'),
  ...nestedColumns('deployments', { fields: named, table: 'deployments' }, hasDeployment),
} satisfies ListColumns

const readStored = rowReader(certificate.fields)

export const certificateReading = readingOf({
  noun: 'certificate',
  select: (queries: Queries, scope: Scope) =>
    selectOwned(queries, 'certificates', within(scope, 'certificates')),
  columnsFor: () => certificateColumns,
  toRecords: async (rows, queries): Promise<CertificateRecord[]> => {
    const deployments = await readDeployments(
      queries,
      rows.map(({ id }) => id),
    )
    return rows.map((row) => ({
      ...readStored(row),
      organizationId: row.organizationId,
      sha: row.sha,
      chain: row.chain,
      deployments: deployments.get(row.id) ?? [],
      released: parse(row.released),
      previous: parse(row.previous),
      candidate: parse(row.candidate) as CertificateCandidate | null,
      deployError: row.deployError,
    }))
  },
})

/** Parses a column that is only written from such an object. */
function parse(json: string | null): CertificateRelease | null {
  return json === null ? null : (JSON.parse(json) as CertificateRelease)
}

async function readDeployments(
  queries: Queries,
  ids: readonly number[],
): Promise<Map<number, NamedReference[]>> {
  if (ids.length === 0) return new Map()
  const rows = await queries
    .selectFrom('certificateDeployments')
    .innerJoin('deployments', 'deployments.id', 'certificateDeployments.deploymentId')
    .select(['certificateDeployments.certificateId', 'deployments.id', 'deployments.name'])
    .where('certificateDeployments.certificateId', 'in', [...ids])
    .orderBy('certificateDeployments.position')
    .execute()
  const byCertificate = groupBy(rows, ({ certificateId }) => certificateId)
  return new Map(
    [...byCertificate].map(([id, own]) => [id, own.map(({ id, name }) => ({ id, name }))]),
  )
}

export async function writeDeployments(
  queries: Queries,
  certificateId: number,
  deploymentIds: readonly number[],
): Promise<void> {
  await queries
    .deleteFrom('certificateDeployments')
    .where('certificateId', '=', certificateId)
    .execute()
  if (deploymentIds.length === 0) return
  const values = deploymentIds.map((deploymentId, position) => ({
    certificateId,
    deploymentId,
    position,
  }))
  await queries.insertInto('certificateDeployments').values(values).execute()
}

/** The columns of a version, also of the current one in `certificates`. */
export function toVersionColumns(read: Omit<ReadCertificate, 'key'>) {
  const { chain, sha, domains, notAfter, fingerprint } = read
  return { chain, sha, domains: JSON.stringify(domains), notAfter, fingerprint }
}

export async function writeVersion(
  queries: Queries,
  { id, organizationId }: Pick<CertificateRecord, 'id' | 'organizationId'>,
  { sealedKey, ...read }: Omit<ReadCertificate, 'key'> & { readonly sealedKey: string },
): Promise<void> {
  const row = { certificateId: id, organizationId, ...toVersionColumns(read), sealedKey }
  await queries
    .insertInto('certificateVersions')
    .values(row)
    .onConflict((conflict) => conflict.columns(['certificateId', 'sha']).doUpdateSet({ sealedKey }))
    .execute()
}

interface CertificateVersion {
  readonly sha: string
  readonly chain: string
  /** Null: forgotten when the secret key was reset. */
  readonly sealedKey: string | null
  readonly domains: readonly string[]
  readonly notAfter: number
  readonly fingerprint: string
}

export async function findVersion(
  queries: Queries,
  certificateId: number,
  sha: string,
): Promise<CertificateVersion | undefined> {
  const row = await queries
    .selectFrom('certificateVersions')
    .select(['sha', 'chain', 'sealedKey', 'domains', 'notAfter', 'fingerprint'])
    .where('certificateId', '=', certificateId)
    .where('sha', '=', sha)
    .executeTakeFirst()
  return row && { ...row, domains: JSON.parse(row.domains) as string[] } // written by writeVersion
}

/** Deletes versions, with their keys, that nothing refers to any more. */
export async function deleteUnusedVersions(
  queries: Queries,
  { id, sha, released, previous, candidate }: CertificateRecord,
): Promise<void> {
  const used = [sha, released?.sha, previous?.sha, candidate?.sha].filter(
    (one) => one !== undefined,
  )
  await queries
    .deleteFrom('certificateVersions')
    .where('certificateId', '=', id)
    .where('sha', 'not in', used)
    .execute()
}

interface Progress {
  readonly released?: CertificateRelease | null
  readonly previous?: CertificateRelease | null
  readonly candidate?: CertificateCandidate | null
  readonly deployError?: string | null
}

/** Writes the progress of its deploys. */
export async function writeProgress(
  queries: Queries,
  id: number,
  { deployError, ...releases }: Progress,
): Promise<void> {
  const columns = Object.entries(releases).map(([name, value]) => [
    name,
    value === null ? null : JSON.stringify(value),
  ])
  await queries
    .updateTable('certificates')
    .set({
      ...(Object.fromEntries(columns) as Record<keyof typeof releases, string | null>),
      ...(deployError !== undefined && { deployError }),
    })
    .where('id', '=', id)
    .execute()
}

/** Returns the certificates of all owners that are deployed or being deployed. */
export async function readDeployed(queries: Queries): Promise<CertificateRecord[]> {
  const rows = await queries
    .selectFrom('certificates')
    .select('id')
    .where((e) => e.or([e('released', 'is not', null), e('candidate', 'is not', null)]))
    .orderBy('id')
    .execute()
  const found: CertificateRecord[] = []
  for (const { id } of rows) {
    const one = await certificateReading.find(queries, { kind: 'all' }, id)
    if (one) found.push(one)
  }
  return found
}

/** Returns the names of this owner's domains. */
export async function readOwnedDomains(
  queries: Queries,
  owner: number | null,
): Promise<readonly string[]> {
  const rows = await selectOwned(
    queries,
    'domains',
    owner === null
      ? expressionBuilder<Tables, 'domains'>()('domains.organizationId', 'is', null)
      : within({ kind: 'organization', organizationId: owner }, 'domains'),
  ).execute()
  return rows.map(({ fqdn }) => fqdn)
}
