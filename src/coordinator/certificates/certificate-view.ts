/** Certificates as responses show them: never with a key. */
import { certificate } from '../../resources/certificate.js'
import { answerMaker } from '../api/resource-answers.js'
import { answerSchema } from '../api/resource-schemas.js'
import { toIso } from '../api/times.js'
import type { CertificatePlace } from '../fleet/certificate-places.js'
import type { CertificateRecord } from './certificate-queries.js'
import type { CertificateView } from './certificates.js'

export const certificateSchema = answerSchema(certificate.fields)

const makeAnswer = answerMaker(certificate.fields)

export function toCertificateView({ record, state, stateName, problems, places }: CertificateView) {
  const { chain, deployments, released, candidate, deployError } = record
  return makeAnswer(record, {
    chain,
    deployments,
    deployed: released !== null || candidate !== null,
    changed: isChanged(record),
    state,
    stateName,
    problems,
    deployError,
    agentStates: places.map((place) => ({
      agent: { id: place.agent.id, name: place.agent.name },
      state: shownState(place),
      reason: place.reason,
      error: place.error,
      deployedAt: place.deployedAt === null ? null : toIso(place.deployedAt),
    })),
  })
}

/** Returns whether it has changed since its last successful deploy. */
function isChanged({ sha, deployments, released }: CertificateRecord): boolean {
  if (released === null) return false
  const ids = deployments.map(({ id }) => id)
  return released.sha !== sha || released.deploymentIds.join() !== ids.join()
}

/** The editable fields, as responses show them. */
export function toCertificateFields(record: CertificateRecord) {
  const { name, chain, fingerprint, deployments } = record
  return { name, chain, fingerprint, deployments }
}

function shownState({ state, candidateState }: CertificatePlace) {
  return candidateState === 'pending' || candidateState === 'loaded' ? 'applying' : state
}
