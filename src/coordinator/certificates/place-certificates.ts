/**
 * Decides which agents get a certificate: all with the tags of one of its deployments, so that a group may move to any of them
 * (docs/behaviour.md, Certificates). Pure.
 */
import type { CertificatePlace } from '../fleet/certificate-places.js'
import type { CertificateCandidate, CertificateRelease } from './certificate-queries.js'

interface PlacedCertificate {
  readonly id: number
  readonly organizationId: number | null
  readonly released: CertificateRelease | null
  readonly candidate: CertificateCandidate | null
}

export interface CertificateAgent {
  readonly id: number
  readonly organizationId: number | null
  readonly tagIds: ReadonlySet<number>
  readonly hasTls: boolean
}

interface PlacesInput {
  readonly certificates: readonly PlacedCertificate[]
  /** Tags by deployment, without deleted deployments; an agent must have all of them. */
  readonly tagsOf: ReadonlyMap<number, readonly number[]>
  readonly agents: readonly CertificateAgent[]
  readonly places: readonly CertificatePlace[]
}

interface PlacesChange {
  /** New or changed. */
  readonly save: readonly CertificatePlace[]
  readonly remove: readonly CertificatePlace[]
}

export function planCertificatePlaces(input: PlacesInput): PlacesChange {
  const before = new Map(
    input.places.map((place) => [keyOf(place.certificateId, place.agentId), place]),
  )
  const after = new Map<string, CertificatePlace>()
  const taken = new Map<string, number>()
  const ordered = input.certificates.toSorted((a, b) => a.id - b.id)
  // Releases claim their domains before candidates do.
  for (const phase of ['released', 'candidate'] as const)
    for (const one of ordered) {
      const wanted = one[phase]
      if (wanted === null) continue
      for (const agent of input.agents) {
        if (!isFor(one, wanted, agent, input.tagsOf)) continue
        const key = keyOf(one.id, agent.id)
        const place = after.get(key) ?? emptyPlace(one, agent.id, before.get(key))
        const reason = findReason(one, wanted, agent, taken)
        if (reason === null) {
          for (const name of wanted.domains) taken.set(`${agent.id} ${name}`, one.id)
          after.set(key, phase === 'released' ? serve(place, wanted.sha) : load(place, wanted.sha))
        } else if (place.sha === null) after.set(key, { ...place, reason })
      }
    }
  return {
    save: [...after].flatMap(([key, place]) =>
      isSame(place, before.get(key)) ? [] : [settlePlace(place, before.get(key))],
    ),
    remove: [...before].flatMap(([key, place]) => (after.has(key) ? [] : [place])),
  }
}

function isFor(
  { organizationId }: Pick<PlacedCertificate, 'organizationId'>,
  { deploymentIds }: CertificateRelease,
  agent: CertificateAgent,
  tagsOf: ReadonlyMap<number, readonly number[]>,
): boolean {
  if (
    organizationId !== null &&
    agent.organizationId !== null &&
    agent.organizationId !== organizationId
  )
    return false
  return deploymentIds.some((id) => {
    const tagIds = tagsOf.get(id) ?? []
    return tagIds.length > 0 && tagIds.every((tagId) => agent.tagIds.has(tagId))
  })
}

function findReason(
  { id }: PlacedCertificate,
  { domains }: CertificateRelease,
  agent: CertificateAgent,
  taken: ReadonlyMap<string, number>,
): CertificatePlace['reason'] {
  if (!agent.hasTls) return 'no-tls'
  const isTaken = domains.some((name) => (taken.get(`${agent.id} ${name}`) ?? id) !== id)
  return isTaken ? 'conflict' : null
}

function emptyPlace(
  { id, organizationId }: PlacedCertificate,
  agentId: number,
  before: CertificatePlace | undefined,
): CertificatePlace {
  return {
    certificateId: id,
    agentId,
    organizationId: before?.organizationId ?? organizationId,
    sha: null,
    reason: null,
    candidateSha: null,
    candidateState: null,
    state: before?.state ?? 'wanted',
    error: before?.error ?? null,
    deployedAt: before?.deployedAt ?? null,
  }
}

function serve(place: CertificatePlace, sha: string): CertificatePlace {
  return { ...place, sha }
}

function load(place: CertificatePlace, sha: string): CertificatePlace {
  if (place.sha === sha) return place
  return { ...place, reason: null, candidateSha: sha, candidateState: 'pending' }
}

/** Returns whether the plan is unchanged; the row then keeps what the agent reported. */
function isSame(place: CertificatePlace, before: CertificatePlace | undefined): boolean {
  return (
    before !== undefined &&
    before.sha === place.sha &&
    before.reason === place.reason &&
    before.candidateSha === place.candidateSha
  )
}

/** Carries the reported states of the versions that stay over into a changed place. */
function settlePlace(
  place: CertificatePlace,
  before: CertificatePlace | undefined,
): CertificatePlace {
  if (place.reason !== null) return { ...place, state: 'passed', error: null, deployedAt: null }
  const isServed = before !== undefined && before.sha === place.sha && place.sha !== null
  const isLoading = before !== undefined && before.candidateSha === place.candidateSha
  return {
    ...place,
    state: isServed && before.state !== 'passed' ? before.state : 'wanted',
    error: isServed && before.state === 'failed' ? before.error : null,
    candidateState: isLoading ? before.candidateState : place.candidateState,
  }
}

function keyOf(certificateId: number, agentId: number): string {
  return `${certificateId} ${agentId}`
}
