/**
 * Puts a certificate on agents, or one that served before (docs/behaviour.md, Certificates). The call writes down what is to be loaded;
 * what follows is decided from rows (follow-certificates.ts), and the call waits for it.
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
  /** The release before the one that serves, in place of what was given last. */
  readonly isRollback: boolean
}

/** A load reads one file; whoever takes longer is not there. */
const loadMs = 60_000

/** Answers false while it goes on. Throws FleetError: conflict, unavailable, uncompilable (422: an agent refused it). */
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
      // What else there is to follow is followed in the background: of a large fleet it costs more than to look.
      if (await isLoaded(service, request.id)) await followCertificates(service, context)
      return findEnd(service, request, begun)
    },
    untilMs,
  )
  if (ended === undefined) return false
  if (ended.error !== null) throw new FleetError('uncompilable', 'deploy', ended.error)
  return true
}

/** Undefined while another deploy of a certificate is loading on one of the agents: one change at a time. */
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
      // Nothing to load: what it says else, such as fewer deployments, counts at once; without agents it waits for them.
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
      'no agent that runs and whose cache has a TLS listener has the tags of a deployment; ' +
        'those that come get the certificate',
    )
  return outcome.release
}

/** Agents that could not load it try at once. Answers these. */
async function tryAgain(queries: Queries, id: number): Promise<readonly number[]> {
  const places = await readCertificatePlaces(queries, { certificateIds: [id] })
  const failed = places.filter(({ state }) => state === 'failed')
  const wanted = failed.map((place) => ({ ...place, state: 'wanted', error: null }) as const)
  await saveCertificatePlaces(queries, wanted)
  const agentIds = failed.map(({ agentId }) => agentId)
  return recomposeDesired(queries, agentIds, { anew: new Set(agentIds) })
}

/** Another deploy is loading: nothing of this one is kept. */
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

/** Throws 'conflict' also for what has expired since it was given, and for one whose key was forgotten. */
async function chooseRelease(
  queries: Queries,
  found: CertificateRecord,
  { isRollback }: DeployRequest,
  now: number,
): Promise<CertificateRelease> {
  const deploymentIds = found.deployments.map(({ id }) => id)
  const sha = isRollback ? found.previous?.sha : found.sha
  if (sha === undefined)
    throw new FleetError('conflict', 'deploy', 'no other chain and key of it were deployed before')
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

/** Throws 'conflict' when another certificate names one of its domains on an agent that it is for. */
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

/** Whether there is an agent to wait for: one that loads it, or serves it already. */
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

/** Undefined while agents are waited for. */
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

/** Agents discard it; its row goes at once. */
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
