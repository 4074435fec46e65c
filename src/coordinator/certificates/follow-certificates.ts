/**
 * Adapts certificates to changed tags, deployments and agents at once, and continues their deploys: loaded everywhere, then committed
 * everywhere (docs/behaviour.md, Certificates). Everything is decided from rows, so that another coordinator can take over.
 */
import type { Logger } from 'pino'
import { agentStates, type AgentState } from '../../resources/agent-state.js'
import type { Capability } from '../../resources/capability.js'
import type { Context } from '../../context.js'
import { notifyDesiredChanged } from '../agents/agent-hints.js'
import { startHintedLoop, type HintedLoop } from '../bus/hinted-loop.js'
import { agentChangedSubject, placementInputsSubject } from '../bus/subjects.js'
import {
  deleteCertificatePlaces,
  readCertificatePlaces,
  saveCertificatePlaces,
} from '../fleet/certificate-places.js'
import { readDeploymentsOf } from '../fleet/deployment-queries.js'
import { recomposeDesired } from '../fleet/desired-states.js'
import type { StateService } from '../service.js'
import { inPieces } from '../store/in-pieces.js'
import { renewEveryMs } from '../store/leases.js'
import type { Queries } from '../store/store.js'
import {
  deleteUnusedVersions,
  readDeployed,
  writeProgress,
  type CertificateCandidate,
  type CertificateRecord,
  type CertificateRelease,
} from './certificate-queries.js'
import { judgeLoading, type LoadingPlace } from './judge-loading.js'
import { planCertificatePlaces, type CertificateAgent } from './place-certificates.js'

/** Arrivals and reports within this time share one pass, which reads all places; a waiting deploy call checks on its own. */
const gatherMs = 250
/** The interval of passes without a hint, in case one was lost; also the precision of deadlines. */
const withoutHintMs = 5_000

export function startCertificateFollower(service: StateService, log: Logger): HintedLoop {
  return startHintedLoop(service.bus, {
    hints: [agentChangedSubject, placementInputsSubject],
    gatherMs,
    log,
    trouble: 'certificates cannot be checked',
    everyMs: withoutHintMs,
    pass: async ({ context, nextIn }) => {
      const ran = await service.leases.run('certificates', () =>
        followCertificates(service, context),
      )
      nextIn(ran === undefined ? renewEveryMs : withoutHintMs)
    },
  })
}

/** Returns how many agents got a new desired state. */
export async function followCertificates(service: StateService, context: Context): Promise<number> {
  const { queries } = service.store
  const isAny =
    (await readDeployed(queries)).length > 0 ||
    (await queries.selectFrom('certificateAgents').select('agentId').executeTakeFirst()) !==
      undefined
  if (!isAny) return 0
  const agentIds = await service.store.decide(async (deciding) => {
    const ended = await endLoading(deciding, service.now())
    return [...new Set([...ended, ...(await placeCertificates(deciding))])]
  })
  notifyDesiredChanged(service, agentIds, context.traceId)
  return agentIds.length
}

/** Returns whether its loading release can be judged: it has loaded, failed, or passed its deadline. */
export async function isLoaded(
  { store: { queries }, now }: StateService,
  id: number,
): Promise<boolean> {
  const row = await queries
    .selectFrom('certificates')
    .select('candidate')
    .where('id', '=', id)
    .executeTakeFirst()
  if (typeof row?.candidate !== 'string') return false
  const { deadlineAt } = JSON.parse(row.candidate) as CertificateCandidate // written by writeProgress only
  return judgeLoading(await readLoading(queries, id), deadlineAt, now()).kind !== 'wait'
}

/** Updates places from releases, and desired states from places. Returns the agents changed. Call under the decision lock. */
export async function placeCertificates(queries: Queries): Promise<readonly number[]> {
  const certificates = await readDeployed(queries)
  const tagsOf = await readTagsOf(queries, certificates)
  const agents = await readTaggedAgents(queries, tagsOf)
  const places = await readAllPlaces(queries)
  const { save, remove } = planCertificatePlaces({ certificates, tagsOf, agents, places })
  await saveCertificatePlaces(queries, save)
  await deleteCertificatePlaces(queries, remove)
  const changed = [...new Set([...save, ...remove].map(({ agentId }) => agentId))]
  return recomposeDesired(queries, changed)
}

/** Ends each deploy that can be judged. Returns the agents whose desired state changed. */
async function endLoading(queries: Queries, now: number): Promise<readonly number[]> {
  const loading = (await readDeployed(queries)).filter(({ candidate }) => candidate !== null)
  if (loading.length === 0) return []
  for (const one of loading) await endOne(queries, one, now)
  return placeCertificates(queries)
}

async function endOne(queries: Queries, one: CertificateRecord, now: number): Promise<void> {
  const { id, candidate } = one
  if (candidate === null) return
  const verdict = judgeLoading(await readLoading(queries, id), candidate.deadlineAt, now)
  if (verdict.kind === 'wait') return
  const { deadlineAt: _, ...release } = candidate
  if (verdict.kind === 'commit') return saveRelease(queries, one, release)
  const change = { candidate: null, deployError: verdict.message }
  await writeProgress(queries, id, change)
  await deleteUnusedVersions(queries, { ...one, ...change })
}

/** Stores the release to serve from now on; the one served until now can be rolled back to. */
export async function saveRelease(
  queries: Queries,
  found: CertificateRecord,
  release: CertificateRelease,
): Promise<void> {
  const isSame = found.released?.sha === release.sha
  const change = {
    released: release,
    ...(!isSame && { previous: found.released }),
    candidate: null,
    deployError: null,
  }
  await writeProgress(queries, found.id, change)
  await deleteUnusedVersions(queries, { ...found, ...change })
}

async function readLoading(queries: Queries, certificateId: number): Promise<LoadingPlace[]> {
  const rows = await queries
    .selectFrom('certificateAgents')
    .innerJoin('agents', 'agents.id', 'certificateAgents.agentId')
    .select(['agents.name', 'agents.state', 'candidateState', 'error'])
    .where('certificateId', '=', certificateId)
    .where('candidateSha', 'is not', null)
    .orderBy('agents.id')
    .execute()
  return rows.map(({ state, candidateState, ...row }) => ({
    ...row,
    isRunning: (state as AgentState) === agentStates.Running,
    state: candidateState as LoadingPlace['state'], // written by saveCertificatePlaces only
  }))
}

/** Returns the tags of each deployment in a release or candidate. */
async function readTagsOf(
  queries: Queries,
  certificates: readonly CertificateRecord[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  const ids = new Set(
    certificates.flatMap(({ released, candidate }) => [
      ...(released?.deploymentIds ?? []),
      ...(candidate?.deploymentIds ?? []),
    ]),
  )
  const deployments = await readDeploymentsOf(queries, [...ids])
  return new Map(deployments.map(({ id, tags }) => [id, tags.map((tag) => tag.id)]))
}

/** Returns the agents that have at least one of the tags. */
async function readTaggedAgents(
  queries: Queries,
  tagsOf: ReadonlyMap<number, readonly number[]>,
): Promise<readonly CertificateAgent[]> {
  const tagIds = [...new Set([...tagsOf.values()].flat())]
  const tags = await inPieces(tagIds, (ids) =>
    queries
      .selectFrom('agentTags')
      .select(['agentId', 'tagId'])
      .where('tagId', 'in', [...ids])
      .execute(),
  )
  const byAgent = new Map<number, Set<number>>()
  for (const { agentId, tagId } of tags)
    byAgent.set(agentId, (byAgent.get(agentId) ?? new Set()).add(tagId))
  const rows = await inPieces([...byAgent.keys()], (ids) =>
    queries
      .selectFrom('agents')
      .select(['id', 'organizationId', 'capabilities'])
      .where('id', 'in', [...ids])
      .execute(),
  )
  return rows.map(({ id, organizationId, capabilities }) => ({
    id,
    organizationId,
    tagIds: byAgent.get(id) ?? new Set(),
    hasTls: (JSON.parse(capabilities) as Capability[]).includes('tls'), // written by registration
  }))
}

async function readAllPlaces(queries: Queries) {
  const rows = await queries
    .selectFrom('certificateAgents')
    .select('certificateId')
    .distinct()
    .execute()
  const certificateIds = rows.map(({ certificateId }) => certificateId)
  return readCertificatePlaces(queries, { certificateIds })
}
