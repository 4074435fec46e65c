/** Lists, reads, creates and changes certificates. Changes take effect at the next deploy. */
import { Type, type Static } from 'typebox'
import { certificate } from '../../resources/certificate.js'
import { deploymentStates } from '../../resources/deployment.js'
import type { Actor } from '../../resources/permission.js'
import type { Problem } from '../../resources/problem.js'
import { FleetError } from '../../errors.js'
import { groupBy } from '../../group-by.js'
import { chooseOwner, requireAll, withUniqueName } from '../api/find-references.js'
import { byState } from '../api/list-objects.js'
import { createBody, updateBody, withOthers } from '../api/resource-schemas.js'
import { deploymentStateName, type DeploymentState } from '../fleet/deployment.js'
import { readAgentNames, type NamedAgent } from '../fleet/agent-names.js'
import { readCertificatePlaces, type CertificatePlace } from '../fleet/certificate-places.js'
import { agentStates } from '../../resources/agent-state.js'
import { sealedPurposes } from '../identity/sealed-texts.js'
import type { Sealing } from '../identity/sealing.js'
import { scopeOf, type StateService } from '../service.js'
import { readUsableIds } from '../store/owner.js'
import { holdQuota } from '../store/quotas.js'
import { findCertificateProblems } from '../problems/find-certificate-problems.js'
import type { Finding } from '../problems/make-problem.js'
import { dateFindings } from '../problems/open-problems.js'
import { isSame, mergeWritten } from '../store/resource-rows.js'
import { insertRow, updateRow } from '../store/write-rows.js'
import type { Queries } from '../store/store.js'
import {
  certificateReading,
  deleteUnusedVersions,
  readOwnedDomains,
  toVersionColumns,
  writeDeployments,
  writeVersion,
  type CertificateRecord,
} from './certificate-queries.js'
import { findUncovered, readCertificate, type ReadCertificate } from './read-certificate.js'

/** Dependencies of the use cases that seal or open keys. */
export interface CertificateTools {
  readonly service: StateService
  readonly sealing: Sealing
}

/** Accepted in requests, never returned. */
const writtenOnly = {
  key: Type.String({
    description: 'PEM: the private key of chain; sealed at rest, never answered',
  }),
}
export const certificateBodies = {
  create: withOthers(createBody(certificate.fields), writtenOnly),
  update: withOthers(updateBody(certificate.fields), { key: Type.Optional(writtenOnly.key) }),
}
type CertificateBody = Static<typeof certificateBodies.update>

export interface CertificateView {
  readonly record: CertificateRecord
  readonly state: DeploymentState
  readonly stateName: string
  readonly problems: readonly Problem[]
  readonly places: readonly (CertificatePlace & { readonly agent: NamedAgent })[]
}

export const certificateListing = {
  columns: certificateReading.listing.columns,
  computed: byState((view: CertificateView) => view),
  select: certificateReading.listing.select,
  read: async (
    service: StateService,
    rows: Parameters<typeof certificateReading.listing.read>[1],
  ) =>
    viewCertificates(
      service,
      await certificateReading.listing.read(service, rows, { kind: 'all' }),
    ),
}

export async function viewCertificate(
  service: StateService,
  record: CertificateRecord,
): Promise<CertificateView> {
  const [view] = await viewCertificates(service, [record])
  if (!view) throw new Error('one certificate has one view')
  return view
}

async function viewCertificates(
  { store: { queries }, now }: StateService,
  records: readonly CertificateRecord[],
): Promise<CertificateView[]> {
  const certificateIds = records.map(({ id }) => id)
  const places = await readCertificatePlaces(queries, { certificateIds })
  const agents = await readAgentNames(
    queries,
    places.map(({ agentId }) => agentId),
  )
  const byCertificate = groupBy(places, ({ certificateId }) => certificateId)
  const views = records.map((record) => {
    const own = (byCertificate.get(record.id) ?? []).flatMap((place) => {
      const agent = agents.get(place.agentId)
      return agent ? [{ ...place, agent }] : []
    })
    const state = judgeState(record, own)
    return { record, state, stateName: deploymentStateName(state), places: own }
  })
  const found = new Map(views.map((view) => [view.record.id, findProblems(view, now())]))
  const problems = await dateFindings(queries, 'certificate', found, now())
  return views.map((view) => ({ ...view, problems: problems.get(view.record.id) ?? [] }))
}

function findProblems(
  { record, state, places }: Omit<CertificateView, 'problems'>,
  nowMs: number,
): Finding[] {
  const placed = places.filter(({ sha }) => sha !== null)
  const facts = placed.map((place) => ({
    agent: place.agent,
    hasFailed: place.state === 'failed',
    error: place.error,
  }))
  return findCertificateProblems({ ...record, state, places: facts }, nowMs)
}

/** Judges like the state of a deployment, over all agents that are not passed over. */
function judgeState(
  { released, candidate }: Pick<CertificateRecord, 'released' | 'candidate'>,
  places: CertificateView['places'],
): DeploymentState {
  if (candidate !== null) return deploymentStates.Deploying
  if (released === null) return deploymentStates.Inactive
  const placed = places.filter(({ sha }) => sha !== null)
  if (placed.length === 0) return deploymentStates.Orphan
  const serving = placed.filter(
    ({ state, agent }) => state === 'applied' && agent.state === agentStates.Running,
  )
  if (serving.length === placed.length) return deploymentStates.Active
  if (placed.some(({ state }) => state === 'wanted')) return deploymentStates.Deploying
  return serving.length > 0 ? deploymentStates.Degraded : deploymentStates.Error
}

export async function createCertificate(
  { service, sealing }: CertificateTools,
  actor: Actor,
  { organization, key, ...wanted }: Static<typeof certificateBodies.create>,
): Promise<CertificateView> {
  const { queries } = service.store
  const owner = await chooseOwner(queries, actor, organization, 'certificate')
  const read = readCertificate({ chain: wanted.chain, key }, service.now())
  await requireCovered(queries, owner, read.domains)
  const { name } = mergeWritten(certificate, wanted)
  const deploymentIds = await requireDeployments(queries, owner, wanted.deployments)
  const id = await withUniqueName(name, 'certificate', () =>
    sealing.write(service.store, async (writing) => {
      const row = { organizationId: owner, name, ...toVersionColumns(read) }
      const made = await insertRow(writing, 'certificates', row, service.now())
      const sealedKey = sealing.seal(read.key, sealedPurposes.certificateKey)
      await writeVersion(writing, { id: made, organizationId: owner }, { ...read, sealedKey })
      await writeDeployments(writing, made, deploymentIds)
      await holdQuota(writing, owner, 'certificates')
      return made
    }),
  )
  return viewCertificate(service, await certificateReading.readAgain(service, actor, id))
}

export async function updateCertificate(
  { service, sealing }: CertificateTools,
  actor: Actor,
  before: CertificateRecord,
  change: CertificateBody,
): Promise<CertificateView> {
  const { queries } = service.store
  const { organizationId: owner, id } = before
  const read = readChange(before, change, service.now())
  if (read) await requireCovered(queries, owner, read.domains)
  const { name } = mergeWritten(certificate, { name: change.name }, before)
  const kept = before.deployments.map(({ id }) => id)
  const deploymentIds =
    change.deployments === undefined
      ? kept
      : await requireDeployments(queries, owner, change.deployments)
  const isChanged =
    !isSame({ name }, before) ||
    deploymentIds.join() !== kept.join() ||
    (read !== null && read.sha !== before.sha)
  if (isChanged)
    await withUniqueName(name, 'certificate', () =>
      sealing.write(service.store, async (writing) => {
        const columns = read ? toVersionColumns(read) : {}
        await updateRow(writing, 'certificates', id, { name, ...columns, updatedAt: service.now() })
        await writeDeployments(writing, id, deploymentIds)
        if (!read) return
        const sealedKey = sealing.seal(read.key, sealedPurposes.certificateKey)
        await writeVersion(writing, before, { ...read, sealedKey })
        const now = await certificateReading.find(writing, { kind: 'all' }, id)
        if (now) await deleteUnusedVersions(writing, now)
      }),
    )
  return viewCertificate(service, await certificateReading.readAgain(service, actor, id))
}

/** Null: chain and key stay. A GET response may be sent back: with the same chain and without a key. */
function readChange(
  before: CertificateRecord,
  { chain, key }: CertificateBody,
  now: number,
): ReadCertificate | null {
  if (key === undefined && (chain === undefined || chain === before.chain)) return null
  if (chain === undefined || key === undefined)
    throw new FleetError(
      'invalid',
      'certificate',
      `${key === undefined ? 'key' : 'chain'}: it is missing; give chain and key, or neither`,
    )
  return readCertificate({ chain, key }, now)
}

async function requireCovered(
  queries: Queries,
  owner: number | null,
  names: readonly string[],
): Promise<void> {
  const [uncovered] = findUncovered(names, await readOwnedDomains(queries, owner))
  if (uncovered === undefined) return
  throw new FleetError(
    'invalid',
    'certificate',
    `chain: it names ${uncovered}, which no domain of the organization covers; make the domain first`,
  )
}

async function requireDeployments(
  queries: Queries,
  owner: number | null,
  wanted: readonly { readonly id: number }[] | null | undefined,
): Promise<readonly number[]> {
  return requireAll(wanted ?? [], 'deployments', 'certificate', (ids) =>
    readUsableIds(queries, 'deployments', owner, ids),
  )
}

export async function viewCertificateAgain(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<CertificateView> {
  const found = await certificateReading.find(service.store.queries, scopeOf(actor), id)
  if (!found) throw new FleetError('not-found', 'certificate', `${id} was not found`)
  return viewCertificate(service, found)
}
