/** Deployments: which agents groups are placed on, chosen by tags, and how many. */
import { deploymentStateName, worstState, type DeploymentState } from '../fleet/deployment.js'
import { groupBy } from '../../group-by.js'
import { parseListQuery } from '../../resources/list-query.js'
import { parseName } from '../../resources/names.js'
import type { Actor } from '../../resources/permission.js'
import { stateOfGroup } from '../fleet/vcl-group.js'
import { FleetError } from '../../errors.js'
import { releaseAdoptedTags } from '../fleet/adoption-queries.js'
import {
  readDeploymentPlaces,
  readDeploymentUses,
  readFittingDeployments,
  type DeploymentPlace,
  type DeploymentUse,
} from '../fleet/deployment-places.js'
import {
  deleteDeployment as deleteDeploymentRow,
  findDeployment as findDeploymentRow,
  insertDeployment,
  readGroupsUsingDeployment,
  selectDeployments,
  updateDeployment as updateDeploymentRow,
  withTags,
  type DeploymentFields,
  type DeploymentRecord,
} from '../fleet/deployment-queries.js'
import { deploymentColumns } from '../fleet/list-columns.js'
import type { NamedReference } from '../store/owner.js'
import { readUsableTagIds } from '../fleet/tag-queries.js'
import { splitQuery, takeComputed, type ListParameters } from '../store/computed-list.js'
import { readLongList, type LongListAnswer } from '../store/long-list.js'
import {
  chooseOwner,
  deleteUnused,
  mergeManagedBy,
  requireAll,
  unmanaged,
  usersNamed,
  withUniqueName,
  type OwnerReference,
} from '../api/find-references.js'
import { scopeOf, type StateService } from '../service.js'
import { changeTargets } from '../placement/shortfall.js'

export type { DeploymentRecord } from '../fleet/deployment-queries.js'

/** A deployment with what follows from its groups' places. */
export interface DeploymentView {
  readonly deployment: DeploymentRecord
  readonly state: DeploymentState
  readonly stateName: string
  readonly agents: readonly NamedReference[]
}

const fields = {
  ...deploymentColumns,
  state: { type: 'number' },
  stateName: { type: 'text' },
} as const

export const deploymentListFields = Object.keys(fields)

export async function listDeployments(
  service: StateService,
  actor: Actor,
  query: ListParameters,
): Promise<LongListAnswer<DeploymentView>> {
  const { queries } = service.store
  const list = parseListQuery(query, fields, 'deployment')
  const split = splitQuery(list, (field) => field === 'state' || field === 'stateName')
  const stored = await readLongList(
    selectDeployments(queries, scopeOf(actor)),
    split.stored,
    deploymentColumns,
    async (rows) => viewDeployments(service, await withTags(queries, rows)),
  )
  return takeComputed(split, stored, (row, field) =>
    field === 'state' ? row.state : row.stateName,
  )
}

export async function findDeployment(
  service: StateService,
  actor: Actor,
  id: number,
): Promise<DeploymentRecord | undefined> {
  return findDeploymentRow(service.store.queries, scopeOf(actor), id)
}

export async function viewDeployment(
  service: StateService,
  deployment: DeploymentRecord,
): Promise<DeploymentView> {
  const [view] = await viewDeployments(service, [deployment])
  if (!view) throw new Error('one deployment has one view')
  return view
}

async function viewDeployments(
  service: StateService,
  deployments: readonly DeploymentRecord[],
): Promise<DeploymentView[]> {
  const { queries } = service.store
  const ids = deployments.map(({ id }) => id)
  const uses = groupBy(await readDeploymentUses(queries, ids), (use) => use.deploymentId)
  const places = groupBy(await readDeploymentPlaces(queries, ids), (place) => place.deploymentId)
  // Whether an agent fits decides between Orphan and Error, so it is asked only where there is no place.
  const empty = ids.filter((id) => uses.get(id)?.some((use) => use.deployed) && !places.has(id))
  const fitting = new Set(await readFittingDeployments(queries, empty))
  return deployments.map((deployment) =>
    viewOf(deployment, {
      uses: uses.get(deployment.id) ?? [],
      places: places.get(deployment.id) ?? [],
      anyAgentFits: places.has(deployment.id) || fitting.has(deployment.id),
    }),
  )
}

interface Situation {
  readonly uses: readonly DeploymentUse[]
  readonly places: readonly DeploymentPlace[]
  readonly anyAgentFits: boolean
}

function viewOf(deployment: DeploymentRecord, situation: Situation): DeploymentView {
  const { uses, places, anyAgentFits } = situation
  const { id, min } = deployment
  const state = worstState(
    uses.map(({ deployed, deploying, groupId }) =>
      stateOfGroup({
        deployed,
        deploying,
        deployments: [{ id, min, anyAgentFits }],
        placements: places.filter((place) => place.groupId === groupId),
      }),
    ),
  )
  const agents = new Map(
    places
      .filter((place) => place.held)
      .map(({ agentId, agentName }) => [agentId, { id: agentId, name: agentName }]),
  )
  return {
    deployment,
    state,
    stateName: deploymentStateName(state),
    agents: [...agents.values()],
  }
}

/** As a body has it: a key that is left out keeps its value, null resets it. */
interface DeploymentChange {
  readonly name?: string | undefined
  readonly min?: number | null | undefined
  readonly max?: number | null | undefined
  readonly tags?: readonly { readonly id: number }[] | undefined
  readonly managedBy?: string | null | undefined
}

interface NewDeployment extends DeploymentChange {
  readonly name: string
  readonly tags: readonly { readonly id: number }[]
  readonly organization?: OwnerReference
}

export async function createDeployment(
  service: StateService,
  actor: Actor,
  wanted: NewDeployment,
): Promise<DeploymentView> {
  const { store } = service
  const owner = await chooseOwner(store.queries, actor, wanted.organization, 'deployment')
  const name = parseName(wanted.name, 'deployment')
  const counts = requireCounts(wanted.min ?? 1, wanted.max ?? 1)
  const tagIds = await requireTags(service, owner, wanted.tags)
  const managedBy = mergeManagedBy(unmanaged, wanted.managedBy, 'deployment')
  const id = await withUniqueName(name, 'deployment', () =>
    store.transaction((queries) =>
      insertDeployment(queries, owner, { name, ...counts, tagIds, managedBy }, service.now()),
    ),
  )
  return readAgain(service, actor, id)
}

/** Throws 'conflict' when a deployed group would fall below min, unless forced (choices: 3, Placement). */
export async function updateDeployment(
  service: StateService,
  actor: Actor,
  deployment: DeploymentRecord,
  change: DeploymentChange & { readonly force: boolean },
): Promise<DeploymentView> {
  const before: DeploymentFields = {
    name: deployment.name,
    min: deployment.min,
    max: deployment.max,
    tagIds: deployment.tags.map(({ id }) => id),
    managedBy: deployment.managedBy,
  }
  const changed = await mergeFields(service, deployment.organization?.id ?? null, before, change)
  if (JSON.stringify(changed) === JSON.stringify(before)) return viewDeployment(service, deployment)
  await withUniqueName(changed.name, 'deployment', () =>
    changeTargets(service, {
      actor,
      errorKey: 'deployment',
      force: change.force,
      readGroupIds: async (queries) =>
        (await readDeploymentUses(queries, [deployment.id])).map(({ groupId }) => groupId),
      write: async (queries) => {
        await updateDeploymentRow(queries, deployment.id, changed, service.now())
        await releaseAdoptedTags(queries, before.tagIds)
      },
    }),
  )
  return readAgain(service, actor, deployment.id)
}

export async function deleteDeployment(
  service: StateService,
  deployment: DeploymentRecord,
): Promise<void> {
  await deleteUnused(
    'VCL group',
    'deployment',
    () => readGroupsUsingDeployment(service.store.queries, deployment.id, usersNamed),
    () =>
      service.store.transaction(async (queries) => {
        await deleteDeploymentRow(queries, deployment.id)
        const tagIds = deployment.tags.map(({ id }) => id)
        await releaseAdoptedTags(queries, tagIds)
      }),
  )
}

async function mergeFields(
  service: StateService,
  owner: number | null,
  before: DeploymentFields,
  { name, min, max, tags, managedBy }: DeploymentChange,
): Promise<DeploymentFields> {
  return {
    name: name === undefined ? before.name : parseName(name, 'deployment'),
    ...requireCounts(
      min === undefined ? before.min : (min ?? 1),
      max === undefined ? before.max : (max ?? 1),
    ),
    tagIds: tags === undefined ? before.tagIds : await requireTags(service, owner, tags),
    managedBy: mergeManagedBy(before, managedBy, 'deployment'),
  }
}

function requireCounts(min: number, max: number): { readonly min: number; readonly max: number } {
  if (max < min)
    throw new FleetError(
      'invalid',
      'deployment',
      `max is ${max} and min ${min}; max is at least min`,
    )
  return { min, max }
}

async function requireTags(
  service: StateService,
  owner: number | null,
  tags: readonly { readonly id: number }[],
): Promise<number[]> {
  if (tags.length === 0)
    throw new FleetError(
      'invalid',
      'deployment',
      'tags is empty; a deployment has at least one tag',
    )
  return requireAll(tags, 'tags', 'deployment', (ids) =>
    readUsableTagIds(service.store.queries, owner, ids),
  )
}

async function readAgain(service: StateService, actor: Actor, id: number): Promise<DeploymentView> {
  const deployment = await findDeployment(service, actor, id)
  if (!deployment) throw new FleetError('not-found', 'deployment', `${id} was not found`)
  return viewDeployment(service, deployment)
}
