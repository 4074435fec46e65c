/** Deployments: which agents groups are placed on, chosen by tags, and how many. */
import { deploymentStateName, worstState, type DeploymentState } from '../fleet/deployment.js'
import { groupBy } from '../../group-by.js'
import { deployment, findCountsProblem } from '../../resources/deployment.js'
import type { Actor } from '../../resources/permission.js'
import type { Problem } from '../../resources/problem.js'
import { stateOfGroup } from '../fleet/vcl-group.js'
import { findPlaceProblems, joinFindings } from '../problems/find-place-problems.js'
import type { Finding } from '../problems/make-problem.js'
import { dateFindings } from '../problems/open-problems.js'
import { FleetError } from '../../errors.js'
import { releaseAdoptedTags } from '../fleet/adoption-queries.js'
import {
  readDeploymentPlacements,
  readDeploymentUses,
  readFittingDeployments,
  type DeploymentPlacementRow,
  type DeploymentUse,
} from '../fleet/deployment-placements.js'
import {
  deleteDeployment as deleteDeploymentRow,
  deploymentColumns,
  findDeployment,
  insertDeployment,
  selectDeployments,
  updateDeployment as updateDeploymentRow,
  withTags,
  type DeploymentFields,
  type DeploymentRecord,
} from '../fleet/deployment-queries.js'
import { readUsingGroups } from '../fleet/using-groups.js'
import type { NamedReference } from '../store/owner.js'
import type { OwnedRow } from '../store/owned-rows.js'
import { isSame, mergeWritten } from '../store/resource-rows.js'
import { readUsableTagIds } from '../fleet/tag-queries.js'
import {
  chooseOwner,
  deleteUnused,
  requireAll,
  usersNamed,
  withUniqueName,
} from '../api/find-references.js'
import { byState, requireFound } from '../api/list-objects.js'
import type { CreateBody, UpdateBody } from '../api/resource-schemas.js'
import { scopeOf, type StateService } from '../service.js'
import { changeTargets } from '../placement/shortfall.js'

/** A deployment with what follows from its groups' places. */
export interface DeploymentView {
  readonly record: DeploymentRecord
  readonly state: DeploymentState
  readonly stateName: string
  readonly problems: readonly Problem[]
  readonly agents: readonly NamedReference[]
}

export const deploymentListing = {
  columns: deploymentColumns,
  computed: byState((view: DeploymentView) => view),
  select: selectDeployments,
  read: async (service: StateService, rows: readonly OwnedRow<'deployments'>[]) =>
    viewDeployments(service, await withTags(service.store.queries, rows)),
}

export async function viewDeployment(
  service: StateService,
  record: DeploymentRecord,
): Promise<DeploymentView> {
  const [view] = await viewDeployments(service, [record])
  if (!view) throw new Error('one deployment has one view')
  return view
}

async function viewDeployments(
  service: StateService,
  records: readonly DeploymentRecord[],
): Promise<DeploymentView[]> {
  const { queries } = service.store
  const ids = records.map(({ id }) => id)
  const uses = groupBy(await readDeploymentUses(queries, ids), (use) => use.deploymentId)
  const places = groupBy(
    await readDeploymentPlacements(queries, ids),
    (place) => place.deploymentId,
  )
  // Whether an agent fits decides between Orphan and Error, so it is asked only where there is no place.
  const empty = ids.filter((id) => uses.get(id)?.some((use) => use.deployed) && !places.has(id))
  const fitting = new Set(await readFittingDeployments(queries, empty))
  const views = records.map((record) =>
    viewOf(record, {
      uses: uses.get(record.id) ?? [],
      places: places.get(record.id) ?? [],
      anyAgentFits: places.has(record.id) || fitting.has(record.id),
    }),
  )
  const found = new Map(views.map(({ record, findings }) => [record.id, findings]))
  const problems = await dateFindings(queries, 'deployment', found, service.now())
  return views.map((view) => ({ ...view, problems: problems.get(view.record.id) ?? [] }))
}

interface Situation {
  readonly uses: readonly DeploymentUse[]
  readonly places: readonly DeploymentPlacementRow[]
  readonly anyAgentFits: boolean
}

function viewOf(
  record: DeploymentRecord,
  situation: Situation,
): Omit<DeploymentView, 'problems'> & { readonly findings: readonly Finding[] } {
  const { uses, places, anyAgentFits } = situation
  const { id, name, min } = record
  const inGroups = uses.map(({ deployed, deploying, groupId }) => {
    const placements = places.filter((place) => place.groupId === groupId)
    const deployments = [{ id, name, min, anyAgentFits }]
    const state = stateOfGroup({ deployed, deploying, deployments, placements })
    return { state, deployments, places: placements, failedDeploy: null }
  })
  const state = worstState(inGroups.map((one) => one.state))
  const findings = joinFindings(inGroups.map((one) => findPlaceProblems(one, null)))
  const agents = new Map(
    places
      .filter((place) => place.held)
      .map(({ agentId, agentName }) => [agentId, { id: agentId, name: agentName }]),
  )
  const stateName = deploymentStateName(state)
  return { record, state, stateName, findings, agents: [...agents.values()] }
}

export async function createDeployment(
  service: StateService,
  actor: Actor,
  wanted: CreateBody<typeof deployment.fields>,
): Promise<DeploymentView> {
  const { store } = service
  const owner = await chooseOwner(store.queries, actor, wanted.organization, 'deployment')
  const fields = await mergeFields(service, owner, wanted)
  const id = await withUniqueName(fields.name, 'deployment', () =>
    store.transaction((queries) => insertDeployment(queries, owner, fields, service.now())),
  )
  return readAgain(service, actor, id)
}

/** Throws 'conflict' when a deployed group would fall below min, unless forced. */
export async function updateDeployment(
  service: StateService,
  actor: Actor,
  before: DeploymentRecord,
  change: UpdateBody<typeof deployment.fields> & { readonly force: boolean },
): Promise<DeploymentView> {
  const changed = await mergeFields(service, before.organization?.id ?? null, change, before)
  const { tagIds, ...fields } = changed
  const tagsBefore = before.tags.map(({ id }) => id)
  if (isSame(fields, before) && tagIds.join() === tagsBefore.join())
    return viewDeployment(service, before)
  await withUniqueName(changed.name, 'deployment', () =>
    changeTargets(service, {
      actor,
      errorKey: 'deployment',
      force: change.force,
      readGroupIds: async (queries) =>
        (await readDeploymentUses(queries, [before.id])).map(({ groupId }) => groupId),
      write: async (queries) => {
        await updateDeploymentRow(queries, before.id, changed, service.now())
        await releaseAdoptedTags(queries, tagsBefore)
      },
    }),
  )
  return readAgain(service, actor, before.id)
}

/** A group that is still placed by it uses it too. */
const usedBy = ['vclGroupDeployments.deploymentId', 'placements.deploymentId'] as const

export async function deleteDeployment(
  service: StateService,
  found: DeploymentRecord,
): Promise<void> {
  await deleteUnused(
    'VCL group',
    'deployment',
    () => readUsingGroups(service.store.queries, usedBy, found.id, usersNamed),
    () =>
      service.store.transaction(async (queries) => {
        await deleteDeploymentRow(queries, found.id)
        const tagIds = found.tags.map(({ id }) => id)
        await releaseAdoptedTags(queries, tagIds)
      }),
  )
}

async function mergeFields(
  service: StateService,
  owner: number | null,
  body: UpdateBody<typeof deployment.fields>,
  before?: DeploymentRecord,
): Promise<DeploymentFields> {
  const fields = mergeWritten(deployment, body, before)
  const problem = findCountsProblem(fields.min, fields.max)
  if (problem !== null) throw new FleetError('invalid', 'deployment', problem)
  const tags = await requireAll(body.tags ?? [], 'tags', 'deployment', (ids) =>
    readUsableTagIds(service.store.queries, owner, ids),
  )
  const kept = before?.tags.map(({ id }) => id) ?? []
  return { ...fields, tagIds: body.tags === undefined ? kept : tags }
}

async function readAgain(service: StateService, actor: Actor, id: number): Promise<DeploymentView> {
  const found = await findDeployment(service.store.queries, scopeOf(actor), id)
  return viewDeployment(service, requireFound(found, 'deployment', id))
}
