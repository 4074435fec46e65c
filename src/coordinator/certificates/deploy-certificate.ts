/**
 * Deploys a certificate to agents, or the version that was served before (docs/behaviour.md, Certificates). The call records what
 * agents must load; all further steps are decided from rows (follow-certificates.ts), and the call waits for them.
 */
import { agentStates } from '../../resources/agent-state.js'
import type { Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import type { Context } from '../../context.js'
import { notifyDesiredChanged } from '../agents/agent-hints.js'
import { watchAgents } from '../agents/watch-agents.js'
import { readAgentNames } from '../fleet/agent-names.js'
import {
  readCertificatePlaces,
  saveCertificatePlaces,
  type CertificatePlace,
} from '../fleet/certificate-places.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import { scopeOf, type StateService } from '../service.js'
import type { Queries } from '../store/store.js'
import { deleteRow, updateRow } from '../store/write-rows.js'
import {
  certificateReading,
  findVersion,
  readDeployed,
  toVersionColumns,
  writeProgress,
  type CertificateRecord,
  type CertificateRelease,
} from './certificate-queries.js'
import {
  followCertificates,
  isLoaded,
  placeCertificates,
  saveRelease,
} from './follow-certificates.js'

interface DeployRequest {
  readonly actor: Actor
  readonly id: number
  readonly waitMs: number
  /** Deploys the release before the served one instead of the chain and key given last. */
  readonly isRollback: boolean
}

/** A load reads one file; an agent that takes longer counts as failed. */
const loadMs = 60_000

/** Returns false if it has not ended in time. Throws FleetError: conflict, unavailable, uncompilable (422: an agent refused it). */
export async function deployCertificate(
  service: StateService,
  context: Context,
  request: DeployRequest,
): Promise<boolean> {
  const untilMs = service.now() + request.waitMs
  const begun = await watchAgents(service, () => begin(service, context, request), untilMs)
  if (!begun) throw busy()
  const ended = await watchAgents(
    service,
    async () => {
      // All other work is left to the background follower: in a large fleet a pass costs more than this check.
      if (await isLoaded(service, request.id)) await followCertificates(service, context)
      return findEnd(service, request, begun)
    },
    untilMs,
  )
  if (ended === undefined) return false
  if (ended.error !== null) throw new FleetError('uncompilable', 'deploy', ended.error)
  return true
}

/** Returns undefined while another certificate deploy is loading on one of the agents: one change at a time. */
async function begin(
  service: StateService,
  context: Context,
  request: DeployRequest,
): Promise<CertificateRelease | undefined> {
  const { agentIds, ...outcome } = await service.store
    .decide(async (queries) => {
      const found = await certificateReading.find(queries, scopeOf(request.actor), request.id)
      if (!found) throw new FleetError('not-found', 'certificate', `${request.id} was not found`)
      if (found.candidate !== null) return { agentIds: [], release: undefined, isEmpty: false }
      const release = await chooseRelease(queries, found, request, service.now())
      const candidate = { ...release, deadlineAt: service.now() + loadMs }
      await writeProgress(queries, found.id, { candidate, deployError: null })
      const changed = await placeCertificates(queries)
      const places = await readCertificatePlaces(queries, { certificateIds: [found.id] })
      await requireFree(queries, request.actor, found, places)
      if (await isOtherLoading(queries, found.id, places)) throw new Busy()
      const isEmpty = !(await hasRunning(queries, places, release.sha))
      const isLoading = places.some(({ candidateSha }) => candidateSha !== null)
      // With nothing to load, other changes, such as fewer deployments, take effect at once; without agents the release waits for them.
      if (!isEmpty && isLoading) return { agentIds: changed, release, isEmpty: false }
      await saveRelease(queries, found, release)
      const placed = await placeCertificates(queries)
      const again = await tryAgain(queries, found.id)
      return { agentIds: [...changed, ...placed, ...again], release, isEmpty }
    })
    .catch((error: unknown) => {
      if (error instanceof Busy) return { agentIds: [], release: undefined, isEmpty: false }
      throw error
    })
  notifyDesiredChanged(service, [...new Set(agentIds)], context.traceId)
  if (outcome.isEmpty && outcome.release && outcome.release.deploymentIds.length > 0)
    throw new FleetError(
      'unavailable',
      'deploy',
      'no Running agent whose cache has a TLS listener has the tags of a deployment; ' +
        'agents that connect later get the certificate',
    )
  return outcome.release
}

/** Makes agents that could not load it retry at once; returns their ids. */
async function tryAgain(queries: Queries, id: number): Promise<readonly number[]> {
  const places = await readCertificatePlaces(queries, { certificateIds: [id] })
  const failed = places.filter(({ state }) => state === 'failed')
  const wanted = failed.map((place) => ({ ...place, state: 'wanted', error: null }) as const)
  await saveCertificatePlaces(queries, wanted)
  const agentIds = failed.map(({ agentId }) => agentId)
  return recomposeDesired(queries, agentIds, { anew: new Set(agentIds) })
}

/** Another deploy is loading: the transaction of this one is rolled back. */
class Busy extends Error {
  override readonly name = 'Busy'
}

function busy(): FleetError {
  return new FleetError(
    'conflict',
    'deploy',
    'another deploy of a certificate is loading on one of the agents; try again when it has ended',
  )
}

/** Throws 'conflict' if no earlier version exists, if the version has expired since it was given, or if its key was forgotten. */
async function chooseRelease(
  queries: Queries,
  found: CertificateRecord,
  { isRollback }: DeployRequest,
  now: number,
): Promise<CertificateRelease> {
  const deploymentIds = found.deployments.map(({ id }) => id)
  const sha = isRollback ? found.previous?.sha : found.sha
  if (sha === undefined)
    throw new FleetError('conflict', 'deploy', 'no earlier chain and key of it were deployed')
  const version = await findVersion(queries, found.id, sha)
  if (!version || version.sealedKey === null)
    throw new FleetError(
      'conflict',
      'deploy',
      'its key was forgotten by "cachefleetd secret reset"; give chain and key again',
    )
  if (version.notAfter <= now)
    throw new FleetError(
      'conflict',
      'deploy',
      `it expired at ${new Date(version.notAfter).toISOString()}; give another chain and key`,
    )
  if (isRollback) {
    const columns = toVersionColumns(version)
    await updateRow(queries, 'certificates', found.id, { ...columns, updatedAt: now })
  }
  return { sha, domains: version.domains, deploymentIds }
}

/** Throws 'conflict' when another certificate has one of its domains on an agent that should get it. */
async function requireFree(
  queries: Queries,
  actor: Actor,
  found: CertificateRecord,
  places: readonly CertificatePlace[],
): Promise<void> {
  const taken = places.find(({ reason, candidateSha }) => reason === 'conflict' && !candidateSha)
  if (!taken) return
  const agent = (await readAgentNames(queries, [taken.agentId])).get(taken.agentId)
  const there = await readCertificatePlaces(queries, { agentIds: [taken.agentId] })
  const others = await readDeployed(queries)
  const holder = others.find(
    (one) =>
      one.id !== found.id && there.some((place) => place.certificateId === one.id && place.sha),
  )
  const isVisible =
    holder && (actor.organizationId === null || holder.organizationId === actor.organizationId)
  const who = isVisible ? `certificate ${JSON.stringify(holder.name)}` : 'another certificate'
  throw new FleetError(
    'conflict',
    'deploy',
    `${who} names one of its domains on agent ${agent?.name ?? ''}; a domain has one certificate on an agent`,
  )
}

async function isOtherLoading(
  queries: Queries,
  id: number,
  places: readonly CertificatePlace[],
): Promise<boolean> {
  const agentIds = places.filter(({ candidateSha }) => candidateSha).map(({ agentId }) => agentId)
  const there = await readCertificatePlaces(queries, { agentIds })
  return there.some(
    ({ certificateId, candidateSha }) => certificateId !== id && candidateSha !== null,
  )
}

/** Returns whether there is a Running agent to wait for: one that should load this version, or serves it already. */
async function hasRunning(
  queries: Queries,
  places: readonly CertificatePlace[],
  wanted: string,
): Promise<boolean> {
  const meant = places.filter(({ candidateSha, sha }) => candidateSha === wanted || sha === wanted)
  const agents = await readAgentNames(
    queries,
    meant.map(({ agentId }) => agentId),
  )
  return [...agents.values()].some(({ state }) => state === agentStates.Running)
}

/** Returns undefined while the deploy waits for agents. */
async function findEnd(
  { store: { queries } }: StateService,
  { id }: DeployRequest,
  begun: CertificateRelease,
): Promise<{ readonly error: string | null } | undefined> {
  const now = await certificateReading.find(queries, { kind: 'all' }, id)
  if (!now) return { error: null }
  if (now.candidate !== null) return undefined
  if (now.deployError !== null) return { error: now.deployError }
  if (now.released?.sha !== begun.sha) return { error: null }
  const places = await readCertificatePlaces(queries, { certificateIds: [id] })
  const wanted = places.filter(({ state }) => state === 'wanted')
  const agents = await readAgentNames(
    queries,
    wanted.map(({ agentId }) => agentId),
  )
  const isWaiting = [...agents.values()].some(({ state }) => state === agentStates.Running)
  return isWaiting ? undefined : { error: null }
}

/** Deletes the row at once; agents discard the certificate afterwards. */
export async function deleteCertificate(
  service: StateService,
  traceId: string,
  { id }: Pick<CertificateRecord, 'id'>,
): Promise<void> {
  const agentIds = await service.store.decide(async (queries) => {
    const places = await readCertificatePlaces(queries, { certificateIds: [id] })
    await deleteRow(queries, 'certificates', id)
    return recomposeDesired(
      queries,
      places.map(({ agentId }) => agentId),
    )
  })
  notifyDesiredChanged(service, agentIds, traceId)
}
