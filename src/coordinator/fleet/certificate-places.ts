/** Certificates on agents and their progress: desired states are composed from them, and reports update them. */
import { groupBy } from '../../group-by.js'
import {
  certificateName,
  type DesiredCertificate,
  type ReportedCertificate,
} from '../../vcl/desired-certificates.js'
import { listIds } from '../store/given-rows.js'
import { inPieces } from '../store/in-pieces.js'
import type { Queries } from '../store/store.js'

export interface CertificatePlace {
  readonly certificateId: number
  readonly agentId: number
  /** Owner of the certificate. */
  readonly organizationId: number | null
  /** The version that the agent should serve; null: none yet, or the agent is passed over. */
  readonly sha: string | null
  readonly state: 'wanted' | 'applied' | 'failed' | 'passed'
  /** Of `passed`. */
  readonly reason: 'no-tls' | 'conflict' | null
  /** The version that a deploy in phase one loads there. */
  readonly candidateSha: string | null
  readonly candidateState: 'pending' | 'loaded' | 'failed' | null
  readonly error: string | null
  readonly deployedAt: number | null
}

/** Certificates by agent id; agents without any are omitted. */
export async function readDesiredCertificates(
  queries: Queries,
  agentIds: readonly number[],
): Promise<Map<number, readonly DesiredCertificate[]>> {
  const places = await readCertificatePlaces(queries, { agentIds })
  const byAgent = groupBy(
    places.filter(({ sha, candidateSha }) => sha !== null || candidateSha !== null),
    ({ agentId }) => agentId,
  )
  return new Map([...byAgent].map(([agentId, own]) => [agentId, own.flatMap(toDesired)]))
}

function toDesired({ certificateId, sha, candidateSha }: CertificatePlace): DesiredCertificate[] {
  return [
    ...(sha === null ? [] : [{ name: certificateName(certificateId, sha), sha }]),
    ...(candidateSha === null
      ? []
      : [
          {
            name: certificateName(certificateId, candidateSha),
            sha: candidateSha,
            staged: true,
          },
        ]),
  ]
}

/** Sorted by certificate and agent. */
export async function readCertificatePlaces(
  queries: Queries,
  wanted: { readonly agentIds?: readonly number[]; readonly certificateIds?: readonly number[] },
): Promise<CertificatePlace[]> {
  const select = (column: 'agentId' | 'certificateId', ids: readonly number[]) =>
    inPieces(ids, async (piece) => {
      const rows = await queries
        .selectFrom('certificateAgents')
        .selectAll()
        .where(column, 'in', listIds(piece))
        .orderBy('certificateId')
        .orderBy('agentId')
        .execute()
      return rows as CertificatePlace[] // written by saveCertificatePlaces only
    })
  return wanted.agentIds
    ? select('agentId', wanted.agentIds)
    : select('certificateId', wanted.certificateIds ?? [])
}

export async function saveCertificatePlaces(
  queries: Queries,
  places: readonly CertificatePlace[],
): Promise<void> {
  await inPieces(places, async (piece) => {
    await queries
      .insertInto('certificateAgents')
      .values([...piece])
      .onConflict((conflict) =>
        conflict.columns(['certificateId', 'agentId']).doUpdateSet((e) => ({
          sha: e.ref('excluded.sha'),
          state: e.ref('excluded.state'),
          reason: e.ref('excluded.reason'),
          candidateSha: e.ref('excluded.candidateSha'),
          candidateState: e.ref('excluded.candidateState'),
          error: e.ref('excluded.error'),
          deployedAt: e.ref('excluded.deployedAt'),
        })),
      )
      .execute()
    return []
  })
}

export async function deleteCertificatePlaces(
  queries: Queries,
  places: readonly Pick<CertificatePlace, 'certificateId' | 'agentId'>[],
): Promise<void> {
  const byCertificate = groupBy(places, ({ certificateId }) => certificateId)
  for (const [certificateId, own] of byCertificate)
    await inPieces(
      own.map(({ agentId }) => agentId),
      async (agentIds) => {
        await queries
          .deleteFrom('certificateAgents')
          .where('certificateId', '=', certificateId)
          .where('agentId', 'in', [...agentIds])
          .execute()
        return []
      },
    )
}

/** Returns the same object if the report contains nothing new about it. Pure. */
export function judgeCertificate(
  place: CertificatePlace,
  reported: ReadonlyMap<string, ReportedCertificate>,
  now: number,
): CertificatePlace {
  return judgeServed(judgeLoaded(place, reported), reported, now)
}

function judgeLoaded(
  place: CertificatePlace,
  reported: ReadonlyMap<string, ReportedCertificate>,
): CertificatePlace {
  const { certificateId, candidateSha, candidateState } = place
  const report =
    candidateSha === null ? undefined : reported.get(certificateName(certificateId, candidateSha))
  if (report === undefined) return place
  const now = report.state === 'failed' ? 'failed' : 'loaded'
  if (now === candidateState) return place
  return { ...place, candidateState: now, error: report.error ?? place.error }
}

function judgeServed(
  place: CertificatePlace,
  reported: ReadonlyMap<string, ReportedCertificate>,
  now: number,
): CertificatePlace {
  const { certificateId, sha, state, error } = place
  const report = sha === null ? undefined : reported.get(certificateName(certificateId, sha))
  if (report === undefined || report.state === 'staged') return place
  if (report.state === 'failed') {
    if (state === 'failed' && error === report.error) return place
    return { ...place, state: 'failed', error: report.error }
  }
  if (state === 'applied') return place
  return { ...place, state: 'applied', error: null, deployedAt: now }
}
